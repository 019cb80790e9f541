export interface ChatCompatibleOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly reasoningEffort?: string;
  readonly routerOrder?: readonly string[];
  readonly routerAllowFallbacks?: boolean;
}
