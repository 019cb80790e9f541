/** The generic listener of the WebSocket call protocol. Its path is not inspected (docs/call-protocol.md, A call). */
import { assert } from '../../shared/base/assert.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { openCallListener } from './listeners.ts';
import type { Listener } from './listener.ts';
import { tokenIngress, websocketPool } from './token-ingress.ts';

const name = 'websocket';

export const websocketListener: Listener = {
  name,
  variable: 'SVC_WS_ADDR',
  isWanted: ({ ws }) => ws.addr !== undefined,
  ingress: (settings) =>
    tokenIngress({
      pool: websocketPool(settings),
      audience: 'svc-ws',
      bind: addressOf(settings),
      access: settings.access,
    }),
  open: ({ settings, arrived }, { given }) =>
    openCallListener({ at: given ?? addressOf(settings), name, arrived }),
};

function addressOf({ ws }: ServerSettings): HostPort {
  assert(ws.addr !== undefined, 'the settings ask for the listener');
  return ws.addr;
}
