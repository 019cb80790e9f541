/**
 * Every HTTP answer that refuses something, by its code. A refusal elsewhere is a row of this table, with what varies of it; nobody else
 * writes one. docs/reference/errors.md is made of it. Pure.
 */
import type { TokenCode } from '../../shared/auth/token-fault.ts';

/** `code` and `message` go into the JSON body. */
export interface Answer {
  readonly status: number;
  readonly code: RefusalCode | TokenCode;
  readonly message: string;
  /** Absent where asking again is of no use, or nobody knows when. */
  readonly retryAfterS?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Row {
  readonly status: number;
  /** The sentence of the answer, unless the place that refuses has a closer one. Nothing in it is of what the client sent. */
  readonly message: string;
  /** What whoever gets it should do. */
  readonly advice: string;
  readonly retryAfterS?: number;
}

const oneSecond = { retryAfterS: 1 } as const;
const callAgain = 'Call again after the time in `Retry-After`.';
const wrongName = 'Correct the request; the sentence says which field, and the rule.';

/** Advice is for the page of errors. */
export const refusalRows = {
  // ---- the form of a request ----
  bad_request: {
    status: 400,
    message: 'the request is not valid HTTP',
    advice: 'Correct the request; the sentence says what it lacks.',
  },
  bad_upgrade: {
    status: 400,
    message: 'the request is not a WebSocket upgrade of version 13',
    advice: 'Use a WebSocket client of version 13, and a proxy that passes upgrades on by HTTP/1.1.',
  },
  not_found: {
    status: 404,
    message: 'there is nothing here',
    advice: 'Correct the path of the URL.',
  },
  method_not_allowed: {
    status: 405,
    message: 'only GET is answered here',
    advice: 'Use a method that the sentence names.',
  },
  head_too_slow: {
    status: 408,
    message: 'the request was not complete in time',
    advice: 'Ask again on a new connection. A proxy must not open connections ahead of their requests.',
  },
  too_large: {
    status: 413,
    message: 'the body is too large',
    advice: 'Send a smaller body.',
  },
  upgrade_required: {
    status: 426,
    message: 'this port speaks the WebSocket call protocol',
    advice: 'Open a WebSocket. On the port of the call page it means that a call would be taken.',
  },
  head_too_large: {
    status: 431,
    message: 'the request head is too large',
    advice: 'Send fewer or shorter headers. Cookies of the same host are the usual reason.',
  },
  // ---- who may ask ----
  unauthorized: {
    status: 401,
    message: 'the secret must be given as a bearer token or as the password of Basic authentication',
    advice: 'Send the secret that the settings name for this listener.',
  },
  origin_refused: {
    status: 403,
    message: 'a web page of this origin may not open calls; SVC_WS_ORIGINS names those that may',
    advice: 'The operator adds the origin of the page to the variable that the sentence names.',
  },
  host_refused: {
    status: 403,
    message:
      'without a token calls are taken for localhost and for addresses; SVC_WS_ORIGINS names the pages of other hosts',
    advice: 'Use `localhost` or an address in the URL, or let the operator set the variable or a token.',
  },
  other_site: {
    status: 403,
    message: 'a page of another site must not send this',
    advice: 'Send it from the desk page or from a program, not from a page of another site.',
  },
  metrics_closed: {
    status: 403,
    message: 'set SVC_METRICS_TOKEN: SVC_HEALTH_ADDR is not a loopback address',
    advice: 'The operator sets `SVC_METRICS_TOKEN`, and the client sends it as a bearer token.',
  },
  tokens_closed: {
    status: 403,
    message:
      'tokens are given to a browser on this machine alone; SVC_PAGE_TOKEN_URL names who gives them to others',
    advice: 'The operator sets `SVC_PAGE_TOKEN_URL` to an endpoint of their own, which knows its users.',
  },
  bad_signature: {
    status: 403,
    message: 'the request is not signed by the carrier for this address',
    advice: 'Compare the secret, and the public URL, with what the carrier has; compare the clock.',
  },
  bad_segment: {
    status: 403,
    message: 'this address was not made for a call, or it has expired',
    advice: 'Let the carrier get the URL of the stream from the webhook, for each call anew.',
  },
  bad_token: {
    status: 403,
    message: 'the stream does not bring the token',
    advice: 'Give the carrier the same token for streams as the service has.',
  },
  // ---- room for a call ----
  too_many_tokens: {
    status: 429,
    message: 'this address has asked for too many tokens',
    advice: 'Ask again after the time in `Retry-After`.',
  },
  address_full: {
    status: 429,
    message: 'this address has reached its limit of calls',
    advice: 'End another call of the address. Behind a proxy, the operator sets `SVC_TRUSTED_PROXIES`.',
    ...oneSecond,
  },
  too_many_offers: {
    status: 429,
    message: 'this address has made too many offers within a minute',
    advice: callAgain,
  },
  draining: {
    status: 503,
    message: 'the server is shutting down',
    advice: 'Call another instance, or later: this one takes no more calls.',
  },
  sessions_full: {
    status: 503,
    message: 'all call slots are in use',
    advice: callAgain,
    ...oneSecond,
  },
  calls_full: {
    status: 503,
    message: 'all connections of this listener are in use',
    advice: callAgain,
    ...oneSecond,
  },
  hand_over_full: {
    status: 503,
    message: 'too many connections are being accepted',
    advice: callAgain,
    ...oneSecond,
  },
  no_worker: {
    status: 503,
    message: 'no call worker is ready',
    advice: 'Call again in a moment. Where it lasts, the log says why workers end.',
    ...oneSecond,
  },
  inference_overloaded: {
    status: 503,
    message: 'speech detection is behind',
    advice: callAgain,
    retryAfterS: 5,
  },
  workers_late: {
    status: 503,
    message: 'calls are behind their audio',
    advice: callAgain,
    retryAfterS: 5,
  },
  provider_budget: {
    status: 503,
    message: 'a provider of this agent has no budget left',
    advice: `${callAgain} The operator has set the budget in \`SVC_PROVIDER_LIMITS\`.`,
  },
  handshakes_full: {
    status: 503,
    message: 'too many connections are being established',
    advice: callAgain,
    // As long as half of the connections take; the others free their places by then.
    retryAfterS: 2,
  },
  unknown_agent: {
    status: 404,
    message: 'no agent has this name',
    advice:
      'Name an agent that `GET /agents` of the callback listener lists, with its tenant and `/` before it.',
  },
  agent_full: {
    status: 503,
    message: 'the agent or its tenant has reached its limit of calls',
    advice: `${callAgain} The operator has set \`[limits]\` of the agent or of its tenant.`,
    ...oneSecond,
  },
  one_agent: {
    status: 404,
    message: 'the service has one agent',
    advice: 'Set `SVC_AGENTS_DIR` for a service of many agents.',
  },
  listener_closed: {
    status: 503,
    message: 'this listener is closed',
    advice: 'Use a listener that the settings in force ask for.',
  },
  restarting: {
    status: 503,
    message: 'the service is being restarted; ask again on a new connection',
    advice: 'Send the same request again, on a new connection.',
    ...oneSecond,
  },
  // ---- faults of the service ----
  server_error: {
    status: 500,
    message: 'the call could not be built',
    advice: 'The log has the error. Call again.',
  },
  internal: {
    status: 500,
    message: 'the answer could not be made',
    advice: 'Ask again. Where it lasts, report it.',
  },
  // ---- signaling of WebRTC ----
  bad_offer: {
    status: 400,
    message: 'the offer cannot be answered',
    advice: 'Correct the offer; the sentence says the rule that it breaks.',
  },
  no_session: {
    status: 404,
    message: 'there is no such session, or it is over',
    advice: 'Begin a new call.',
  },
  call_is_moving: {
    status: 409,
    message: 'the call is on its way to a worker; ask again',
    advice: 'Send the same request again after the time in `Retry-After`.',
    ...oneSecond,
  },
  overtaken: {
    status: 409,
    message: 'another offer has come for this call',
    advice: 'Nothing, if the other offer is of the same client: that one is answered.',
  },
  stale_etag: {
    status: 412,
    message: 'the session has another entity tag',
    advice: 'Send the `ETag` of the last answer in `If-Match`.',
  },
  bad_type: {
    status: 415,
    message: 'the body has to be application/sdp',
    advice: 'Send the `Content-Type` that the sentence names.',
  },
  no_ice_restart: {
    status: 422,
    message: 'ICE is not restarted; the call goes on as it was',
    advice: 'To come back after a lost connection, send a new offer by POST to the session URL.',
  },
  no_relay: {
    status: 503,
    message: 'the call requires a relay, and none could be had',
    advice: callAgain,
    retryAfterS: 2,
  },
  // ---- the live view ----
  no_such_call: {
    status: 404,
    message: 'no worker has such a call',
    advice: 'Look whether the call is over.',
  },
  // ---- records of calls ----
  no_such_record: {
    status: 404,
    message: 'there is no record or recording of such a call here',
    advice:
      'A record is there some seconds after its call, and is erased by its age. A recording may have been uploaded or deleted.',
  },
  no_such_part: {
    status: 416,
    message: 'the recording ends before the part that was asked for',
    advice: 'Ask for a part before the length that `Content-Range` has, or for all of it.',
  },
  recording_unreadable: {
    status: 503,
    message: 'the recording of this call cannot be read',
    advice:
      'Give the service the key that the sentence names, in the file of `SVC_RECORDING_KEY_FILE`, or restore the file that is damaged.',
  },
  records_away: {
    status: 503,
    message: 'the database of records does not answer',
    advice: 'Ask again. Calls wait on disk meanwhile; the log says what is wrong with the database.',
  },
  // ---- operators: transfers, and calls that the service makes ----
  unknown: {
    status: 404,
    message: 'there is no such transfer, or it is over',
    advice: 'Ask for the list of transfers.',
  },
  over: {
    status: 409,
    message: 'the transfer is over',
    advice: 'Nothing: it has ended already.',
  },
  not_answered: {
    status: 409,
    message: 'it is not known that a person has answered, and callers are never joined to a voicemail',
    advice: 'Ask again when somebody has answered, or bring the caller back.',
  },
  not_possible: {
    status: 409,
    message: 'the transfer is at a step where this cannot be done; ask again',
    advice: 'Ask again in a moment; the list of transfers has the step of each.',
  },
  carrier: {
    status: 400,
    message: 'carrier: must name a carrier that can make calls',
    advice: wrongName,
  },
  voicemail: {
    status: 400,
    message:
      'voicemail: needs machine_detection ("own" by sip); without it the agent speaks to whoever or whatever answers',
    advice: wrongName,
  },
  detection: {
    status: 400,
    message: 'machine_detection: for calls by sip only the service itself ("own") can detect a machine',
    advice: wrongName,
  },
  not_allowed: {
    status: 403,
    message: 'to: must begin with a prefix of SVC_OUTBOUND_ALLOW',
    advice: 'The operator allows the beginning of the number in `SVC_OUTBOUND_ALLOW`.',
  },
  off: {
    status: 404,
    message: 'calls are not made: SVC_OUTBOUND_FROM, and what a carrier needs to make them, must be set',
    advice: 'The operator sets what the sentence names.',
  },
  busy: {
    status: 409,
    message: 'a call to that number is under way',
    advice: 'Wait for the end of that call.',
  },
  key_reused: {
    status: 409,
    message: 'the Idempotency-Key was used for another request',
    advice: 'Use a new key for each new request.',
  },
  rate_limited: {
    status: 429,
    message: 'as many calls as SVC_OUTBOUND_PER_MINUTE allows were made within the last minute',
    advice: 'Ask again after the time in `Retry-After`.',
    retryAfterS: 60,
  },
  refused: {
    status: 502,
    message:
      'the carrier did not make the call, and nothing has happened; the log says why, by its status and code',
    advice: 'Look into the log, mend what it names, and ask again.',
  },
  full: {
    status: 503,
    message: 'too many calls are being made',
    advice: 'Ask again after the time in `Retry-After`.',
    retryAfterS: 10,
  },
  not_ready: {
    status: 503,
    message: 'the service takes no calls',
    advice: 'Ask again after the time in `Retry-After`. The sentence names the reason, by its code.',
    retryAfterS: 10,
  },
  unsure: {
    status: 503,
    message: 'the instance that took this Idempotency-Key does not answer: it may have made the call',
    advice: 'Ask again with the same key: no second call is made.',
    retryAfterS: 10,
  },
} as const satisfies Readonly<Record<string, Row>>;

type RefusalCode = keyof typeof refusalRows;

const answerOf = (code: RefusalCode): Answer => {
  const { advice: _ofThePage, ...answer }: Row = refusalRows[code];
  return { code, ...answer };
};

/** The same object each time: an answer is written once, and goes out many times. */
export const refusals = Object.fromEntries(
  (Object.keys(refusalRows) as RefusalCode[]).map((code) => [code, answerOf(code)]),
) as Readonly<Record<RefusalCode, Answer>>;

/** A row of the table with what this place says of it. */
export const refusal = (
  code: RefusalCode,
  varied: Pick<Partial<Answer>, 'message' | 'retryAfterS' | 'headers'>,
): Answer => ({ ...refusals[code], ...varied });

/** @param methods as in `Allow`. */
export const onlyBy = (methods: string): Answer =>
  refusal('method_not_allowed', {
    message: `only ${methods} is answered here`,
    headers: { Allow: methods },
  });
