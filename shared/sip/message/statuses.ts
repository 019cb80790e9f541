/** What SIP requests are answered by: the statuses with their words. docs/reference/errors.md has each refusal. Pure. */

const progress: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  200: 'OK',
  202: 'Accepted',
};

export const refusalWords = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  422: 'Session Interval Too Small',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  500: 'Server Internal Error',
  503: 'Service Unavailable',
  505: 'Version Not Supported',
  603: 'Decline',
} as const;

/** The words beside a status. */
export const reasonOf = (status: number): string =>
  (refusalWords as Readonly<Record<number, string>>)[status] ?? progress[status] ?? 'Unknown';
