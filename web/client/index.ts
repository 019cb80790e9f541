/** A call with a voice agent from a browser. */
export { VoiceCall } from './voice-call.ts';
export { CallFailed } from './voice-call-options.ts';
export type { VoiceCallEvents, VoiceCallOptions, WireNote } from './voice-call-options.ts';
export type { CallOutcome, MicrophoneProblem } from './call-machine.ts';
export type { CallState } from './call-state.ts';
export { Conversation } from './conversation.ts';
export type { ConversationLine } from './conversation.ts';
export type { ConversationEvent, ConversationEventName, TurnMetrics } from './conversation-events.ts';
export type { LineKind } from './line/line-kind.ts';
export { tokenFrom, TokenRefused } from './door.ts';
export { audioDevices } from './devices.ts';
export type { AudioDevices } from './devices.ts';
export type { ClientMessage, ServerMessage, TypedAnswer } from './wire.ts';
