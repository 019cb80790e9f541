/**
 * The REST side of Twilio: updates of calls and new calls, form-encoded under the account's credentials. What an update does
 * to a call is done to its stream: it stops at once, and instructions with a stream open another one.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Observed } from '../process/observed.ts';
import { carrierToken, FakeStream, postEvent, streamUrlOf } from '../fakes/fake-twilio.ts';

export const accountSid = `AC${'0'.repeat(32)}`;

export interface ApiRequest {
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
}

/** How a request is answered: by its status, by no answer at all (`silent`: after it was done), or by a connection that breaks. */
export type Reply = number | 'silent' | 'broken';

const errors: Readonly<Record<number, number>> = { 400: 21_220, 401: 20_003, 404: 20_404, 429: 20_429 };

export class FakeTwilioApi extends Observed {
  readonly requests: ApiRequest[] = [];
  /** Answers to the next requests, in order; then all is well. */
  readonly replies: Reply[] = [];
  readonly streams = new Map<string, FakeStream>();
  /** What a refusal says. */
  message = 'no';
  /** Where streams that come back are opened. */
  listener = '';
  /** A person who hears a summary stays to its end, and comes into the conference. */
  staysForSummary = true;
  /** What happens between a request's coming and its being done. */
  before: ((request: ApiRequest) => Promise<void>) | undefined;
  #server: Server | undefined;
  #made = 0;

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#take(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get env(): Readonly<Record<string, string>> {
    const { port } = this.#server?.address() as AddressInfo;
    return { SVC_CARRIER_A_ACCOUNT_SID: accountSid, SVC_CARRIER_A_API_URL: `http://127.0.0.1:${port}` };
  }

  async close(): Promise<void> {
    for (const stream of this.streams.values()) stream.close();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
  }

  /** The call that these instructions of a request are for. */
  twiml(index: number): string {
    return this.requests[index]?.form['Twiml'] ?? '';
  }

  /** The call that was made last. */
  get newestMade(): string {
    return `CA9${String(this.#made).padStart(3, '0')}`;
  }

  /** The dialling of a cold transfer is over: asks what comes next, where the instructions said so, and does that. */
  async dialled(callSid: string, status: string): Promise<string> {
    const path = `/Calls/${callSid}.json`;
    const twiml = this.requests.findLast((request) => request.path === path)?.form['Twiml'] ?? '';
    const [, action] = /<Dial[^>]* action="([^"]+)"/.exec(twiml) ?? [];
    if (action === undefined) return '';
    const form = { CallSid: callSid, AccountSid: accountSid, DialCallStatus: status };
    const answer = await (await postEvent(this.listener, new URL(action).pathname, form)).text();
    this.#update(callSid, answer);
    return answer;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const path = (request.url ?? '').replace(`/2010-04-01/Accounts/${accountSid}`, '');
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"in-progress"}');
      return;
    }
    const expected = `Basic ${Buffer.from(`${accountSid}:${carrierToken}`).toString('base64')}`;
    const reply = request.headers.authorization === expected ? (this.replies.shift() ?? 200) : 401;
    this.requests.push({ path, form });
    await this.before?.({ path, form });
    const isDone = typeof reply !== 'number' || reply < 300;
    const [, callSid] = /^\/Calls\/([^/]+)\.json$/.exec(path) ?? [];
    if (isDone && callSid !== undefined) this.#update(callSid, form['Twiml'] ?? '');
    this.changed();
    if (reply === 'silent') return;
    if (reply === 'broken') {
      request.socket.destroy();
      return;
    }
    if (callSid === undefined) this.#made += 1;
    const sid = callSid ?? this.newestMade;
    const body = isDone
      ? { sid, status: 'in-progress' }
      : { code: errors[reply], message: this.message, status: reply };
    response.writeHead(reply, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #update(callSid: string, twiml: string): void {
    this.streams.get(callSid)?.stop();
    this.streams.get(callSid)?.close();
    this.streams.delete(callSid);
    const [, tag] = /startConferenceOnEnter="true"[^>]*>svc-([^<]+)</.exec(twiml) ?? [];
    if (tag !== undefined && this.staysForSummary) {
      const form = { CallSid: callSid, AccountSid: accountSid, StatusCallbackEvent: 'participant-join' };
      void postEvent(this.listener, `/carrier_a/events/conference/${tag}`, form);
    }
    const url = streamUrlOf(twiml);
    if (url === '') return;
    const stream = new FakeStream(this.listener, { callSid, url, streamSid: `MZ${this.requests.length}000` });
    this.streams.set(callSid, stream);
    void stream
      .until(() => stream.status !== 0)
      .then(() => {
        if (stream.status === 101) stream.begin();
      });
  }
}
