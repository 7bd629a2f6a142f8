/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

// Sends requests to where the page is: a reverse proxy may add a path prefix that the service does not know.
const base = new URL('.', location.href).href.replace(/\/$/, '');
const serverOfPage = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (description) => update({ ...description, servers: [{ url: base }] }),
      },
    },
  },
};

// Adds accessible names, which screen readers need and Swagger UI omits.
const accessibleNames = {
  wrapComponents: {
    CloseIcon:
      (CloseIcon, { React }) =>
      () =>
        React.createElement(CloseIcon, { role: 'img', 'aria-label': 'Close', 'aria-hidden': false }),
    TextArea:
      (TextArea, { React }) =>
      (props) =>
        React.createElement(TextArea, { 'aria-label': 'Body', ...props }),
  },
};

SwaggerUIBundle({
  dom_id: '#page',
  url: 'openapi.json',
  deepLinking: true,
  docExpansion: 'full',
  syntaxHighlight: false,
  validatorUrl: null,
  plugins: [serverOfPage, accessibleNames],
});
