/**
 * What SIP requests are answered by, as one table: the statuses with their words, and of a refusal when it is given and what helps. Pure.
 */

const progress = { 100: 'Trying', 180: 'Ringing', 200: 'OK', 202: 'Accepted' } as const;

interface SipRefusal {
  readonly reason: string;
  /** `docs/reference/errors.md` is made of the two. */
  readonly when: string;
  readonly advice: string;
}

export const sipRefusals: Readonly<Record<number, SipRefusal>> = {
  400: {
    reason: 'Bad Request',
    when: 'the form of the request is wrong; the words beside the status say what',
    advice: 'Mend the device or proxy that wrote it.',
  },
  401: {
    reason: 'Unauthorized',
    when: 'the address of the peer is not in `SVC_SIP_ALLOW`, and it has not proved the password',
    advice: 'Sign in with the user and password of the service, or let the address be allowed.',
  },
  403: {
    reason: 'Forbidden',
    when: 'the peer may not call: its address is not allowed, and there is no password',
    advice: 'Let the address be allowed by `SVC_SIP_ALLOW`.',
  },
  405: {
    reason: 'Method Not Allowed',
    when: 'the method is none of those in `Allow`, such as REGISTER',
    advice: 'Use the methods of `Allow`; phones register at a PBX.',
  },
  406: {
    reason: 'Not Acceptable',
    when: 'an INVITE without an offer does not accept `application/sdp`',
    advice: 'Accept SDP, or offer some.',
  },
  415: {
    reason: 'Unsupported Media Type',
    when: 'a body is neither SDP nor, in INFO, a key',
    advice: 'Send what `Accept` names.',
  },
  416: {
    reason: 'Unsupported URI Scheme',
    when: 'the address is not of `sip`, `sips` or `tel`',
    advice: 'Call such an address.',
  },
  420: {
    reason: 'Bad Extension',
    when: 'an extension is required that is not built; `Unsupported` names it',
    advice: 'Require `timer` alone.',
  },
  422: {
    reason: 'Session Interval Too Small',
    when: 'the session timer is shorter than `Min-SE`',
    advice: 'Ask again with that time; devices do it by themselves.',
  },
  480: {
    reason: 'Temporarily Unavailable',
    when: 'the service has ended the call before it was answered',
    advice: 'Call again.',
  },
  481: {
    reason: 'Call/Transaction Does Not Exist',
    when: 'the call or transaction is not known, or not any more',
    advice: 'Begin a new call.',
  },
  482: {
    reason: 'Loop Detected',
    when: 'the same request has come by another way',
    advice: 'Look for proxies that fork to the same place.',
  },
  486: {
    reason: 'Busy Here',
    when: 'the address has as many calls as it may have (`SVC_WS_MAX_CALLS_PER_IP`)',
    advice: 'Call again after the time in `Retry-After`.',
  },
  487: {
    reason: 'Request Terminated',
    when: 'the caller has taken the call back before it was answered',
    advice: 'Nothing is wrong.',
  },
  488: {
    reason: 'Not Acceptable Here',
    when: 'no codec, key or address of the offer can be used; encrypted audio needs TLS',
    advice: 'Offer PCMU, PCMA, G.722 or Opus, and SRTP over TLS alone. The log has what was offered.',
  },
  491: {
    reason: 'Request Pending',
    when: 'another change of the call is under way',
    advice: 'Ask again a moment later; devices do it by themselves.',
  },
  500: {
    reason: 'Server Internal Error',
    when: 'requests of a call came out of order, or the call could not be placed; the log has it',
    advice: 'Ask again after the time in `Retry-After`, where there is one.',
  },
  503: {
    reason: 'Service Unavailable',
    when: 'the service is full, stopping or not ready, or has no port for audio',
    advice: 'Call again after the time in `Retry-After`, or elsewhere.',
  },
  505: {
    reason: 'Version Not Supported',
    when: 'the request is not of SIP/2.0',
    advice: 'Speak SIP/2.0.',
  },
  603: {
    reason: 'Decline',
    when: 'the peer asks by REFER to hand the agent on, which is not done',
    advice: 'Call the other party yourself.',
  },
};

/** The words beside a status. */
export const reasonOf = (status: number): string =>
  sipRefusals[status]?.reason ?? (progress as Readonly<Record<number, string>>)[status] ?? 'Unknown';
