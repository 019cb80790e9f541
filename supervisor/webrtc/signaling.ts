/**
 * Answers the requests of the signaling port. POST /whip opens a call; its session URL takes DELETE (hang up), PATCH (candidates), GET,
 * and POST (another offer of a client that has lost its connection, or whose call has lost its worker).
 *
 * Invariant: every answer has `Cache-Control: no-store` and says to a browser which page may read it. A call that was let in and not
 * answered gives everything back.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import { isSameSecret } from '../../shared/auth/same-secret.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import { clientAddress } from '../../shared/net/client-address.ts';
import { parseIp } from '../../shared/net/cidr.ts';
import type { SignaledOffer } from '../../shared/protocol/ipc.ts';
import { readFragment, readOffer, sdpLimits, type SdpOffer } from '../../shared/webrtc/sdp.ts';
import { systemClock, type WallClock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { presentedBy, type RequestHead } from '../admission/credentials.ts';
import type { OfferSignals, Unanswered } from '../handover/open-offer.ts';
import type { SignaledCalls } from '../handover/signaled-calls.ts';
import { onlyBy, refusal, refusals, type Answer } from '../http/refusals.ts';
import type { Arrival, Decision } from '../listeners/front-door.ts';
import { headerOf, httpExchange, refuse, type Exchange } from './exchange.ts';
import { preflightHeaders, signalingRefusal } from './origin.ts';
import { Reach } from './reach.ts';
import type { SignalingTakeover } from './takeover.ts';
import { lostBody, LossPolls } from './loss-polls.ts';
import { randomBytes } from 'node:crypto';

export interface SignalingOptions {
  readonly settings: ServerSettings;
  readonly webrtc: WebrtcSettings;
  readonly decide: (arrival: Arrival) => Promise<Decision>;
  /** Counts an offer for a call that runs; the answer when its address has made too many. */
  readonly offered: (arrival: Arrival) => Promise<Answer | undefined>;
  /** Judges credentials and origin of a request, and uses nothing. */
  readonly refusal: (head: RequestHead) => Answer | undefined;
  readonly signaled: SignaledCalls;
  readonly wallClock: WallClock;
  readonly log: Log;
  /** Calls of the supervisor before this one. */
  readonly takeover?: SignalingTakeover;
}

const endpoint = '/whip';
const sessionsAt = '/whip/sessions/';
const iceServersAt = '/whip/ice';
/** Whether a path is one of those that are answered here. */
export const isSignaling = (path: string): boolean => path === endpoint || path.startsWith(`${endpoint}/`);
const sdpType = 'application/sdp';
const fragmentType = 'application/trickle-ice-sdpfrag';

const badType = (type: string): Answer => refusal('bad_type', { message: `the body has to be ${type}` });
const tooLarge = refusal('too_large', { message: `a body has at most ${sdpLimits.bytes} bytes` });
const badOffer = (rule: string): Answer => refusal('bad_offer', { message: rule });
const needsToken: Answer = {
  ...tokenAnswers.missing,
  message: 'the session URL alone is not enough here: a token is needed',
};
const unanswered: Readonly<Record<Unanswered, Answer>> = {
  bad_offer: refusals.bad_offer,
  failed: refusals.server_error,
  no_relay: refusals.no_relay,
  overtaken: refusals.overtaken,
  no_worker: refusal('no_worker', { message: 'no worker can take the call' }),
};

const arrivalOf = (exchange: Exchange): Arrival => ({
  listener: 'webrtc',
  method: exchange.method,
  head: exchange.head,
  get peer() {
    return exchange.peer;
  },
});

export class Signaling {
  readonly #options: SignalingOptions;
  readonly #sessions = new SignalingSessions();
  readonly #reach: Reach;
  readonly #lossPolls = new LossPolls();

  constructor(options: SignalingOptions) {
    this.#options = options;
    const { webrtc, wallClock, log, signaled } = options;
    this.#reach = new Reach({ webrtc, wallClock, log, clock: systemClock, bring: signaled.bring });
    options.takeover?.serve((exchange, id) => this.#safely(exchange, this.#answerOf(exchange, id)));
  }

  /** Connections for media by TCP; undefined where there are none. */
  get iceTcp(): Reach['iceTcp'] {
    return this.#reach.iceTcp;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const exchange = httpExchange(request, response, this.#options.webrtc.corsOrigin);
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    void this.#safely(exchange, this.#route(exchange, path));
  }

  #safely(exchange: Exchange, work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      this.#options.log.error(errorFields(error), 'a signaling request failed');
      refuse(exchange, refusals.server_error);
    });
  }

  async #route(exchange: Exchange, path: string): Promise<void> {
    const { method } = exchange;
    const isSession = path.startsWith(sessionsAt);
    const isIce = path === iceServersAt;
    if (path !== endpoint && !isSession && !isIce) refuse(exchange, refusals.not_found);
    else if (method === 'OPTIONS') exchange.send({ status: 204, headers: preflightHeaders });
    else if (isIce && method !== 'GET') refuse(exchange, onlyBy('GET, OPTIONS'));
    else if (isIce) await this.#onIce(exchange);
    else if (isSession) await this.#onSession(exchange, path.slice(sessionsAt.length));
    else if (method === 'GET' || method === 'HEAD') exchange.send({ status: 204 });
    else if (method === 'POST') await this.#onOffer(exchange);
    else refuse(exchange, onlyBy('POST, GET, OPTIONS'));
  }

  /** Relays cost their operator traffic: where calls need a token, they do. It is looked at and not used, so that it still opens a call. */
  async #onIce(exchange: Exchange): Promise<void> {
    const refusal = this.#reach.givesRelays ? this.#options.refusal(exchange.head) : undefined;
    if (refusal !== undefined) {
      refuse(exchange, refusal);
      return;
    }
    const text = `${JSON.stringify({ iceServers: await this.#reach.forClient() })}\n`;
    exchange.send({ status: 200, body: { type: 'application/json', text } });
  }

  // ---- A new call ----

  async #onOffer(exchange: Exchange): Promise<void> {
    const sdp = await this.#body(exchange, sdpType);
    if (sdp === undefined) return;
    const decision = await this.#options.decide(arrivalOf(exchange));
    if (decision.kind === 'refused') {
      refuse(exchange, decision.answer);
      return;
    }
    const offer = readOffer(sdp);
    if (!offer.ok || exchange.isGone()) {
      decision.release();
      if (!offer.ok) refuse(exchange, badOffer(offer.error));
      return;
    }
    const offered = await this.#reach.offered(sdp, this.#clientIp(exchange));
    if (exchange.isGone()) decision.release();
    else this.#open(exchange, { offered, offer: offer.value, decision });
  }

  /** Undefined where it is not known as one address. */
  #clientIp({ peer, head: { headers } }: Exchange): string | undefined {
    const { trustedProxies, clientIpHeader: header } = this.#options.settings.access;
    const address = clientAddress({ peer, headers }, { trustedProxies, header });
    return parseIp(address) === undefined ? undefined : address;
  }

  #open(
    exchange: Exchange,
    {
      offered,
      offer,
      decision,
    }: {
      offered: SignaledOffer;
      offer: SignalingSession['offer'];
      decision: Extract<Decision, { kind: 'admitted' }>;
    },
  ): void {
    const session = this.#sessions.add(offer);
    const { transport, signedMetadata, release, connected, maxS } = decision;
    const request = {
      transport,
      signedMetadata,
      method: 'POST',
      url: endpoint,
      headers: {},
      head: '',
      signaled: offered,
      ...(maxS !== undefined && { endsAtMs: machineMs() + maxS * 1000 }),
    };
    const signals = this.#signals(exchange, session, connected);
    const answered = (sdp: string): void => {
      signals.answered(sdp);
      void this.#created(exchange, session, sdp).then((isRead) => {
        // Nobody has the session URL, or will make the connection.
        if (!isRead) this.#options.signaled.hangUp(session.call);
      });
    };
    session.call = this.#options.signaled.give(request, release, { ...signals, answered });
  }

  #signals(exchange: Exchange, session: SignalingSession, connected: () => void): OfferSignals {
    return {
      answered: (sdp) => {
        this.#lossPolls.served(session.call);
        this.iceTcp?.names.add(session.call, sdp);
      },
      unanswered: (reason) => refuse(exchange, unanswered[reason]),
      connected,
      wayClosed: (way) => this.iceTcp?.closed(way),
      waysLost: () => {
        this.iceTcp?.lost(session.call);
        this.#lossPolls.lost(session.call);
      },
      over: () => {
        this.#sessions.forget(session.id);
        this.#lossPolls.over(session.call);
        this.iceTcp?.lost(session.call);
        this.iceTcp?.names.forget(session.call);
      },
    };
  }

  /** False where nobody is there to read the answer. */
  async #created(exchange: Exchange, session: SignalingSession, sdp: string): Promise<boolean> {
    const links = await this.#reach.links();
    if (exchange.isGone()) return false;
    exchange.send({
      status: 201,
      headers: {
        Location: `${sessionsAt}${session.id}`,
        ETag: session.etag,
        ...(links.length > 0 && { Link: links.join(', ') }),
      },
      body: { type: sdpType, text: sdp },
    });
    return true;
  }

  // ---- A session URL ----

  async #onSession(exchange: Exchange, id: string): Promise<void> {
    const refusal = this.#mayUse(exchange);
    if (refusal !== undefined) refuse(exchange, refusal);
    else if (exchange.method === 'POST') await this.#onReturn(exchange, id);
    else await this.#answerOf(exchange, id);
  }

  async #onReturn(exchange: Exchange, id: string): Promise<void> {
    // A body that is not read at once is lost.
    const text = exchange.text();
    const hurried = await this.#hurried(exchange, id);
    if (hurried !== undefined) refuse(exchange, hurried);
    else await this.#answerOf({ ...exchange, text: () => text }, id);
  }

  /** An offer costs a worker as much here as at the endpoint. Clients of a worker that died all come back at once, and owe nothing for it. */
  async #hurried(exchange: Exchange, id: string): Promise<Answer | undefined> {
    const session = this.#sessions.find(id);
    const isAwaited = session !== undefined && this.#options.signaled.isAwaited(session.call);
    return isAwaited ? undefined : await this.#options.offered(arrivalOf(exchange));
  }

  async #answerOf(exchange: Exchange, id: string): Promise<void> {
    const session = this.#sessions.find(id);
    if (session !== undefined) await this.#use(exchange, session);
    else if (this.#options.takeover === undefined) refuse(exchange, refusals.no_session);
    else await this.#options.takeover.ask(exchange, id);
  }

  async #use(exchange: Exchange, session: SignalingSession): Promise<void> {
    switch (exchange.method) {
      case 'DELETE':
        this.#sessions.forget(session.id);
        this.#options.signaled.hangUp(session.call);
        exchange.send({ status: 200 });
        return;
      case 'GET':
      case 'HEAD':
        this.#look(exchange, session);
        return;
      case 'PATCH':
        await this.#onPatch(exchange, session);
        return;
      case 'POST':
        await this.#comeBack(exchange, session);
        return;
      default:
        refuse(exchange, onlyBy('DELETE, PATCH, POST, GET, OPTIONS'));
    }
  }

  #look(exchange: Exchange, session: SignalingSession): void {
    const headers = { ETag: session.etag };
    const answer = (isLost: boolean): void =>
      exchange.send({ headers, ...(isLost ? { status: 200, body: lostBody } : { status: 204 }) });
    if (!this.#lossPolls.keeps(session.call, exchange, answer)) answer(false);
  }

  /** Once session tokens are in use the URL is enough; a static token alone has to be there with it (docs/webrtc.md, A call). */
  #mayUse({ head }: Exchange): Answer | undefined {
    const { webrtc, settings } = this.#options;
    const foreign = signalingRefusal(head.headers, { webrtc, access: settings.access });
    if (foreign !== undefined) return foreign;
    if (webrtc.token === undefined || settings.access.sessionSecrets.length > 0) return undefined;
    const secret = webrtc.token.reveal();
    const presented = presentedBy({ url: '/', headers: head.headers });
    if (presented.length === 0) return needsToken;
    return presented.some((one) => isSameSecret(one, secret)) ? undefined : tokenAnswers.wrong_signature;
  }

  /** Candidates need no answer: the client is found by the checks that it sends. Another pair of credentials would restart ICE. */
  async #onPatch(exchange: Exchange, session: SignalingSession): Promise<void> {
    const text = await this.#body(exchange, fragmentType);
    if (text === undefined) return;
    const tag = headerOf(exchange, 'if-match');
    const fragment = readFragment(text);
    if (!fragment.ok) {
      refuse(exchange, badOffer(fragment.error));
      return;
    }
    const { ufrag = session.offer.ufrag, pwd = session.offer.pwd } = fragment.value;
    if (ufrag !== session.offer.ufrag || pwd !== session.offer.pwd) refuse(exchange, refusals.no_ice_restart);
    else if (tag !== undefined && tag !== '*' && tag !== session.etag) refuse(exchange, refusals.stale_etag);
    else {
      this.#options.signaled.candidates(session.call, fragment.value.candidateIps);
      exchange.send({ status: 204 });
    }
  }

  async #comeBack(exchange: Exchange, session: SignalingSession): Promise<void> {
    const sdp = await this.#body(exchange, sdpType);
    if (sdp === undefined) return;
    const offer = readOffer(sdp);
    if (!offer.ok) {
      refuse(exchange, badOffer(offer.error));
      return;
    }
    const offered = await this.#reach.offered(sdp, this.#clientIp(exchange));
    // A network that broke once more in the middle of it: the call waits for the next try.
    if (exchange.isGone()) return;
    const etag = newEtag();
    const signals = this.#signals(exchange, session, () => undefined);
    const answered = (answer: string): void => {
      session.offer = offer.value;
      session.etag = etag;
      signals.answered(answer);
      void this.#created(exchange, session, answer);
    };
    if (!this.#options.signaled.comeBack(session.call, offered, { ...signals, answered }))
      refuse(exchange, refusals.call_is_moving);
  }

  /** The whole body; undefined when it was refused. */
  async #body(exchange: Exchange, type: string): Promise<string | undefined> {
    const given = headerOf(exchange, 'content-type')?.split(';')[0]?.trim().toLowerCase();
    if (given !== type) {
      refuse(exchange, badType(type));
      return undefined;
    }
    const text = await exchange.text();
    if (text === undefined) refuse(exchange, tooLarge);
    return text;
  }
}

/**
 * The session URLs that are in force: who knows one may hang up, and come back after the call has lost its worker.
 *
 * Invariant: an id has 128 random bits and is forgotten with its call; what it leads to is never told.
 */
interface SignalingSession {
  readonly id: string;
  /** Strong entity tag of the ICE session. */
  etag: string;
  /** Number of the call in the hand-over. */
  call: number;
  /** ICE credentials of the client, by which a restart of ICE is told from more candidates. */
  offer: Pick<SdpOffer, 'ufrag' | 'pwd'>;
}

class SignalingSessions {
  readonly #sessions = new Map<string, SignalingSession>();

  get count(): number {
    return this.#sessions.size;
  }

  add(offer: SignalingSession['offer']): SignalingSession {
    const id = randomBytes(16).toString('hex');
    const session = { id, etag: newEtag(), call: 0, offer };
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string): SignalingSession | undefined {
    return this.#sessions.get(id);
  }

  forget(id: string): void {
    this.#sessions.delete(id);
  }
}

const newEtag = (): string => `"${randomBytes(6).toString('hex')}"`;
