export { Admission } from './admission.js';
export { createApp } from './app.js';
export { plantRouter } from './router.js';
export { HttpServer } from './server.js';
//# sourceMappingURL=index.js.map