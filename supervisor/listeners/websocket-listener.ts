/** The generic listener of the WebSocket call protocol. Its path is not inspected (spec 01, Endpoints). */
import { openCallListener } from './listeners.ts';
import type { Listener } from './listener.ts';
import { tokenEntrance, websocketPool } from './token-entrance.ts';

const name = 'websocket';

export const websocketListener: Listener = {
  name,
  variable: 'SVC_WS_ADDR',
  isWanted: () => true,
  entrance: (settings) =>
    tokenEntrance({
      pool: websocketPool(settings),
      audience: 'svc-ws',
      bind: settings.ws.addr,
      access: settings.access,
    }),
  open: ({ settings, arrived }, { given }) =>
    openCallListener({ at: given ?? settings.ws.addr, name, arrived }),
};
