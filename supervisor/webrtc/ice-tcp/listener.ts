/** The listener of ICE over TCP (docs/webrtc.md, Where UDP does not get through; RFC 6544, RFC 4571). Its clients speak no HTTP. */
import { createServer, type AddressInfo } from 'node:net';
import { assert } from '../../../shared/base/assert.ts';
import type { Listener } from '../../listeners/listener.ts';
import { listen } from '../../listeners/listeners.ts';
import { signalingOf } from '../listener.ts';

export const iceTcpListener: Listener = {
  name: 'webrtc_tcp',
  variable: 'SVC_WEBRTC_TCP_ADDR',
  isWanted: ({ webrtc }) => webrtc?.tcp !== undefined,
  open: async (context, { given }) => {
    const settings = context.settings.webrtc?.tcp;
    const { iceTcp } = signalingOf(context);
    assert(settings !== undefined && iceTcp !== undefined, 'the settings ask for ICE over TCP');
    const server = createServer((socket) => iceTcp.arrived(socket));
    const address = await listen(server, given ?? settings.addr);
    iceTcp.port = settings.candidatePort ?? (server.address() as AddressInfo).port;
    return { server, address, connections: () => iceTcp.waiting };
  },
};
