/** What a call goes by. */
export type LineKind = 'websocket' | 'webrtc';
