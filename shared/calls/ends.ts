/** How calls end: one closed list, with who ends a call in each of these ways. Pure. */

/** Who ended a call. `network`: its connection broke, and nobody can say on which side. */
export const endedBy = ['caller', 'agent', 'service', 'operator', 'carrier', 'network'] as const;
export type EndedBy = (typeof endedBy)[number];

interface EndRow {
  readonly by: EndedBy;
  /** One sentence, for pages and documents. */
  readonly text: string;
  /** The call is one of those that went wrong. */
  readonly isFailure?: true;
}

export const callEnds = {
  caller_hung_up: { by: 'caller', text: 'The caller hung up.' },
  connection_lost: { by: 'network', text: "The caller's connection broke without a word." },
  agent_ended: { by: 'agent', text: 'The agent ended the call, by its tool, its flow or its process.' },
  operator_ended: { by: 'operator', text: 'An operator ended the call.' },
  transferred: { by: 'agent', text: 'Somebody else has the caller.' },
  continued: {
    by: 'carrier',
    text: 'The carrier goes on with the call on another stream, which has a record of its own.',
  },
  silence: { by: 'service', text: 'The caller said nothing for too long.' },
  time_limit: { by: 'service', text: 'The time of the call was over.' },
  voicemail: { by: 'service', text: 'An answering machine took the call.' },
  not_connected: {
    by: 'carrier',
    text: 'A call that the service made reached nobody; the detail says why, such as `busy`.',
  },
  shutdown: { by: 'service', text: 'The service stopped.' },
  refused: { by: 'service', text: 'The call was answered and then refused.', isFailure: true },
  providers_failed: { by: 'service', text: 'A provider failed too often and for too long.', isFailure: true },
  protocol_error: { by: 'service', text: "The caller's program broke the protocol.", isFailure: true },
  fault: { by: 'service', text: 'An error inside the service ended the call.', isFailure: true },
  worker_lost: {
    by: 'service',
    text: 'The process that had the call died, and no other took the call up.',
    isFailure: true,
  },
} as const satisfies Readonly<Record<string, EndRow>>;

export type CallEndCode = keyof typeof callEnds;

const rows: Readonly<Record<CallEndCode, EndRow>> = callEnds;

export const callEndCodes = Object.keys(callEnds) as readonly CallEndCode[];

export const isFailedEnd = (code: CallEndCode): boolean => rows[code].isFailure === true;
