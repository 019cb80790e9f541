export interface SpeechCompatibleOptions {
  readonly baseUrl: string;
  readonly preset: 'generic' | 'local_a' | 'local_b' | 'local_c' | 'local_d';
  readonly model: string;
  readonly voice?: string;
  readonly speed?: number;
  readonly format: 'pcm' | 'wav';
  readonly firstAudioTimeoutMs: number;
  /** Empty: no warm-up. */
  readonly warmText: string;
  readonly warmIntervalMs: number;
}
