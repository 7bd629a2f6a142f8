/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

// A reverse proxy may put a prefix before the paths that the service does not know of.
const base = new URL('.', location.href).href.replace(/\/$/, '');
const fromHere = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (description) => update({ ...description, servers: [{ url: base }] }),
      },
    },
  },
};

// What Swagger UI leaves without a name for who does not see it.
const named = {
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
  plugins: [fromHere, named],
});
