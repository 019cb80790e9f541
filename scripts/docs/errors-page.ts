/** The page of error codes: what the service answers when it refuses, out of the tables that it answers from. */
import { agentLinkErrors, type AgentLinkErrorCode } from '../../shared/agent-link/errors.ts';
import { tokenAnswers, type TokenCode } from '../../shared/auth/token-fault.ts';
import { callErrors, type CallErrorCode } from '../../shared/protocol/call.ts';
import { refusalRows, refusals, type Answer } from '../../supervisor/http/refusals.ts';
import { reasonOf, type refusalWords } from '../../shared/sip/message/statuses.ts';
import { markdownTable } from './markdown-table.ts';

const newToken = 'Get a new token right before the call, and use it once.';
const sameToken = 'Call again with the same token after the time in `Retry-After`.';

const tokenAdvice: Readonly<Record<TokenCode, string>> = {
  token_missing: 'Present a token, in one of the ways that [session tokens](../tokens.md) have.',
  token_invalid:
    'Get a new token. Where every token is refused, compare the secret with that of the program that makes them.',
  token_wrong_audience: 'Get a token whose `aud` names this listener.',
  token_not_yet_valid: 'Compare the clock of the program that makes tokens with the clock of the service.',
  token_expired: newToken,
  token_lifetime_too_long: 'Make tokens with a shorter life.',
  token_reused: newToken,
  token_too_large: 'Put less metadata into the token.',
  token_set_full: sameToken,
  token_store_unavailable: sameToken,
};

const callAdvice: Readonly<Record<CallErrorCode, string>> = {
  invalid_json: 'Send one JSON object with a string `type` in each text frame, and audio in binary frames.',
  invalid_message: 'Correct the field that the sentence names, by the rule beside it.',
  unknown_message: 'Send the types of the protocol alone. The call goes on without this message.',
  unsupported_version: 'Send `"version": 1` in `start`.',
  unsupported_sample_rate: 'Ask for one of these rates, and let the client resample.',
  unexpected_start: 'Send `start` once. Another call is another connection.',
  audio_before_start: 'Send `start` first, and audio behind it.',
  start_timeout: 'Send `start` as soon as the connection is open.',
  bad_audio:
    'Send whole samples of 16 bits. Audio that was cut at an odd byte, or has another encoding, is the usual reason.',
  frame_too_large: 'Send smaller frames: 20 ms of audio each, and short messages.',
  too_many_errors: 'Mend the faults that were told before it.',
  output_rate_mismatch:
    'Nothing in the client. The operator gives the provider of speech the rate that its server speaks at.',
  mark_id_too_long: 'Nothing in the client: the service has made the id. Report it.',
  server_busy: 'Call again a moment later, or at another instance.',
  overloaded:
    'Call again. The operator looks whether the machine has too many calls ([how many it holds](../scale.md)).',
  ping_timeout:
    'Answer pings, as WebSocket libraries do by themselves. Where they do, the network was lost: call again.',
};

const linkAdvice: Readonly<Record<AgentLinkErrorCode, string>> = {
  unsupported_version: 'Update the SDK, or the service, so that both speak one version.',
  unknown_type: 'Send the types of the protocol alone. A newer SDK than the service is the usual reason.',
  unknown_tool:
    'Name tools that the call has: those of the agent file, and those that the agent process has offered.',
  unsupported: 'Look at `capabilities.transfer` of `session.start` before you transfer.',
  already_done: 'Nothing: the first of the two is done.',
  tool_failed: 'Look into the log of the agent process, where the tool has thrown.',
  outcome_unknown: 'Repeat the transfer with the same command id: it is not placed twice.',
  binary_frame: 'Send text frames. Audio never goes over the link.',
  invalid_json: 'Send one JSON object with a string `type` in each frame.',
  invalid_message: 'Correct the field that the sentence names, by the rule beside it.',
  too_deep: 'Send flatter values.',
  message_too_large: 'Send less: a summary to the model, and a link to the rest.',
  unexpected_message: 'Send messages of the handshake once, in their order.',
  tool_refused: 'Correct the tool as the sentence says; the call goes on without it.',
  unknown_event: 'Subscribe to events of the protocol alone.',
  empty_context_message: 'Leave messages without text out.',
  too_many: 'Give fewer; the limits stand below the [protocol](agent-link.md#limits).',
  queue_full: 'Wait for the results of earlier commands before sending more.',
  dropped:
    'Send the command again if it still matters: the caller has interrupted, or something newer has taken its place.',
  call_ending: 'Nothing: the call takes no more commands.',
  transfer_failed:
    'Say so to the caller, who is still there; look at the number, and at the log of the carrier.',
  unknown_call:
    'Answer a tool call once and in time. It was answered, was cancelled, or has run out of time.',
  unavailable: 'Start the agent process again, or look at the network between it and the service.',
  too_fast: 'Nothing is lost. Send fewer messages, or larger ones.',
  too_slow: 'Keep reading the link while tools run, and do slow work beside it.',
  agent_down: 'Look whether the agent process hangs: a loop that never yields keeps it from answering pings.',
};

/** When a status is given, and what to do. */
const sipAdvice: Readonly<Record<keyof typeof refusalWords, readonly [when: string, advice: string]>> = {
  400: [
    'the form of the request is wrong; the words beside the status say what',
    'Mend the device or proxy that wrote it.',
  ],
  401: [
    'the address of the peer is not in `SVC_SIP_ALLOW`, and it has not proved the password',
    'Sign in with the user and password of the service, or let the address be allowed.',
  ],
  403: [
    'the peer may not call: its address is not allowed, and there is no password',
    'Let the address be allowed by `SVC_SIP_ALLOW`.',
  ],
  405: [
    'the method is none of those in `Allow`, such as REGISTER',
    'Use the methods of `Allow`; phones register at a PBX.',
  ],
  406: ['an INVITE without an offer does not accept `application/sdp`', 'Accept SDP, or offer some.'],
  415: ['a body is neither SDP nor, in INFO, a key', 'Send what `Accept` names.'],
  416: ['the address is not of `sip`, `sips` or `tel`', 'Call such an address.'],
  420: ['an extension is required that is not built; `Unsupported` names it', 'Require `timer` alone.'],
  422: [
    'the session timer is shorter than `Min-SE`',
    'Ask again with that time; devices do it by themselves.',
  ],
  480: ['the service has ended the call before it was answered', 'Call again.'],
  481: ['the call or transaction is not known, or not any more', 'Begin a new call.'],
  482: ['the same request has come by another way', 'Look for proxies that fork to the same place.'],
  486: [
    'the address has as many calls as it may have (`SVC_WS_MAX_CALLS_PER_IP`)',
    'Call again after the time in `Retry-After`.',
  ],
  487: ['the caller has taken the call back before it was answered', 'Nothing is wrong.'],
  488: [
    'no codec, key or address of the offer can be used; encrypted audio needs TLS',
    'Offer PCMU, PCMA, G.722 or Opus, and SRTP over TLS alone. The log has what was offered.',
  ],
  491: ['another change of the call is under way', 'Ask again a moment later; devices do it by themselves.'],
  500: [
    'requests of a call came out of order, or the call could not be placed; the log has it',
    'Ask again after the time in `Retry-After`, where there is one.',
  ],
  503: [
    'the service is full, stopping or not ready, or has no port for audio',
    'Call again after the time in `Retry-After`, or elsewhere.',
  ],
  505: ['the request is not of SIP/2.0', 'Speak SIP/2.0.'],
  603: ['the peer asks by REFER to hand the agent on, which is not done', 'Call the other party yourself.'],
};

const code = (text: string): string => `\`${text}\``;

/** Several faults of a token have one code, and a token that is not valid is the most common of them. */
const ofTokens = [tokenAnswers.wrong_signature, ...Object.values(tokenAnswers)]
  .filter((answer, at, all) => all.findIndex((one) => one.code === answer.code) === at)
  .map((answer) => ({ answer, advice: tokenAdvice[answer.code] }));

const ofRows = Object.entries(refusalRows).map(([name, { advice }]) => ({
  answer: refusals[name as keyof typeof refusals],
  advice,
}));

const httpRow = ({ answer, advice }: { readonly answer: Answer; readonly advice: string }): string[] => [
  code(answer.code),
  String(answer.status),
  answer.message,
  advice,
  answer.retryAfterS === undefined ? '' : `${answer.retryAfterS} s`,
];

const byCode = (one: string[], other: string[]): number => (one[0] ?? '').localeCompare(other[0] ?? '', 'en');

export function errorsPage(): string {
  const http = [...ofRows, ...ofTokens].map(httpRow).sort(byCode);
  const calls = Object.entries(callErrors).map(([name, { fatal, closeCode, message }]) => [
    code(name),
    fatal ? `yes, ${closeCode}` : 'no',
    message,
    callAdvice[name as CallErrorCode],
  ]);
  const links = Object.entries(agentLinkErrors).map(([name, words]) => [
    code(name),
    words,
    linkAdvice[name as AgentLinkErrorCode],
  ]);
  const sip = Object.entries(sipAdvice).map(([status, advice]) => [
    status,
    reasonOf(Number(status)),
    ...advice,
  ]);
  return `# Error codes

Generated from the tables that the service answers from; \`npm run docs\` writes it anew.

Programs go by the code, which stays as it is; sentences are for people, and may say more precisely what is meant. No sentence holds what was sent.

## Refusals by HTTP

Every listener answers a request that it refuses, and an upgrade or offer for a call that it does not take, with the status and a body of
\`{"code", "message"}\`. \`Retry-After\` says in how many seconds to ask again, and the table has it where it is always the same. A 503 without it
should not be repeated at the same instance at once.

${markdownTable(['Code', 'Status', 'Sentence', 'What to do', '`Retry-After`'], http)}

## Errors of the call protocol

An \`error\` message of the [call protocol](../call-protocol.md#errors) has one of these codes. After a fatal one the connection closes, with the close code
beside it: a client that broke a rule should be mended, and with 1013 it may call again. After the others the call goes on; before \`start\`, \`unknown_message\` is fatal, too.

${markdownTable(['Code', 'Fatal, close code', 'Sentence', 'What to do'], calls)}

## Errors of the agent link

The [agent link](agent-link.md) has these codes in \`command.result\` and in \`error\` events, and as reasons of close frames.

${markdownTable(['Code', 'Sentence', 'What to do'], links)}

## Refusals by SIP

[SIP](../sip.md) requests that are refused get one of these statuses; other words beside it may say more precisely what is meant. A peer that nobody knows
and that asks often over UDP gets the bare status, with 503 in place of 401.

${markdownTable(['Status', 'Words', 'When', 'What to do'], sip)}
`;
}
