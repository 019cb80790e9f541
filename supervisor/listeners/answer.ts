/** An HTTP answer instead of a call. `code` and `message` go into the JSON body. */
export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another supervisor serves, or is about to; a request cannot change hands as an upgrade does. */
export const restarting: Answer = {
  status: 503,
  code: 'restarting',
  message: 'the service is being restarted; ask again on a new connection',
  retryAfterS: 1,
};
