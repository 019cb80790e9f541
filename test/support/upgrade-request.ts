/** What a WebSocket client asks for when its connection is handed over. */
export const upgradeRequest = {
  transport: 'websocket',
  method: 'GET',
  url: '/',
  headers: {},
  head: '',
  signedMetadata: {},
} as const;
