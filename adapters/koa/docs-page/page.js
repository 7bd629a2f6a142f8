/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

// A reverse proxy may put a prefix before the paths that the service does not know of.
const base = new URL('.', location.href).href.replace(/\/$/, '');

SwaggerUIBundle({
  dom_id: '#page',
  url: 'openapi.json',
  deepLinking: true,
  docExpansion: 'full',
  validatorUrl: null,
  plugins: [
    {
      statePlugins: {
        spec: {
          wrapActions: {
            updateJsonSpec: (update) => (description) => update({ ...description, servers: [{ url: base }] }),
          },
        },
      },
    },
  ],
});
