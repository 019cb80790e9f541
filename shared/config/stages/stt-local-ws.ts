export interface SttLocalWsOptions {
  readonly baseUrl: string;
  readonly path: string;
  readonly sampleRate: number;
  readonly finalizeTimeoutMs: number;
  readonly finalizePaddingMs: number;
}
