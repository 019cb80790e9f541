/** The calls of this worker that operators may listen to. The supervisor has let an operator in before the connection comes here. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { longestOperatorMessage, monitorClose, monitorProtocol } from '../../shared/monitor/messages.ts';
import type { MonitorOffer } from '../../shared/protocol/ipc.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { CallObserver, ObservedCall } from '../call/observer.ts';
import { CallMonitor, type MonitoredAgent } from './call-monitor.ts';

export class Monitors {
  readonly #clock: Clock;
  readonly #calls = new Map<string, CallMonitor>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: longestOperatorMessage,
    handleProtocols: () => monitorProtocol,
  });

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#server.on('headers', (headers) => headers.push('Cache-Control: no-store'));
  }

  observe(call: ObservedCall, agent: MonitoredAgent): CallObserver {
    const { callId } = call.start;
    const gone = (): void => {
      if (this.#calls.get(callId) === monitor) this.#calls.delete(callId);
    };
    const monitor = new CallMonitor({ call, clock: this.#clock, agent, gone });
    this.#calls.set(callId, monitor);
    return monitor;
  }

  /** The connection of an operator. The library answers a malformed upgrade on its own and closes the socket. */
  open(offer: MonitorOffer, socket: Socket): void {
    socket.setNoDelay(true);
    const { method, url, headers, head, role, by, call, tenant } = offer;
    const request = { method, url, headers, socket } as unknown as IncomingMessage;
    this.#server.handleUpgrade(request, socket, Buffer.from(head, 'base64'), (ws) => {
      const monitor = this.#calls.get(call);
      const isTheirs = tenant === undefined || monitor?.tenant === tenant;
      // The call has ended on the way here.
      if (monitor === undefined || !isTheirs) ws.close(monitorClose.over, 'over');
      else monitor.attach(ws, { role, by, tenant });
    });
  }
}
