/** An HTTP answer instead of a call. `code` and `message` go into the JSON body. */
export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
