/** Application logic for calls of the voice agent service: an agent, its tools, its calls. */
export { Agent, serve, type AgentOptions } from './agent.ts';
export {
  livekitTools,
  pipecatTool,
  type ExtraOptions,
  type LiveKitTool,
  type LiveKitToolOptions,
  type PipecatParams,
} from './adapters.ts';
export type { Opening, StartHandler } from './definition.ts';
export { CallEnded, CommandRefused, RejectCall, ToolError, type RefusalCode } from './errors.ts';
export type { AgentEvent, AgentEvents, AgentEventType, SignedSession } from './events.ts';
export type { Logger, LogFields } from './log.ts';
export type { JsonSchema, StandardSchema } from './schema.ts';
export type { AgentServer, ListenOptions } from './server.ts';
export type { Caller, ContextMessage, Session, TransferOptions } from './session.ts';
export { mintSessionToken, type SessionTokenOptions } from './session-token.ts';
export type { CancelReason, Tool, ToolCall, ToolHandler, ToolOptions } from './tools/tool.ts';
