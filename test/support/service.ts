/** The access token of the services that tests start. */
export const TOKEN = 'token-of-the-tests';
