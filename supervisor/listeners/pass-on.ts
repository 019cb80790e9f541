/**
 * Requests on connections that this process has kept open, while another one accepts at their address: what they tell is for the one that
 * has the calls from now on. They are asked there as they came, and its answer is given back.
 */
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerHeaders, errorBody } from '../http/answer.ts';
import { refusal } from '../http/refusals.ts';

/** Somebody waits for the answer; the new process gives most at once. */
const longestAnswerMs = 10_000;

const successorSilent = refusal('restarting', { message: 'the service restarts; ask again' });

/** @param address `host:port` where the other process accepts. */
export function passOn(request: IncomingMessage, response: ServerResponse, address: string): void {
  const { hostname, port } = new URL(`http://${address}`);
  const { method, url, headers } = request;
  const asked = ask({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    method,
    path: url,
    timeout: longestAnswerMs,
    // One request for each connection: it must not come back to this process.
    headers: { ...headers, connection: 'close' },
    agent: false,
  });
  asked.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'close' });
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  asked.on('timeout', () => asked.destroy());
  asked.on('error', () => {
    if (response.headersSent) return;
    const body = errorBody(successorSilent);
    response
      .writeHead(successorSilent.status, { ...answerHeaders(body), 'Retry-After': '1', Connection: 'close' })
      .end(body);
  });
  request.pipe(asked);
}
