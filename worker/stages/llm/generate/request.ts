/**
 * The body of a request to a content generation interface, out of the engine's messages.
 *
 * Invariant: roles alternate, the user speaks first and last, all results of a round stand in one content after it, and
 * a thought signature stands on the part that it came with. Pure.
 */
import type { LlmGenerateOptions } from './declaration.ts';
import type { LlmRequest, ToolDeclaration } from '../../stage.ts';
import { vendorIds } from '../call-ids.ts';
import { pairHistory, type AssistantTurn, type PairedCall, type Turn } from '../history.ts';
import { shapeOf, type ModelShape } from '../model-shape.ts';
import { parseJson, textOf, treeIn, writeJson, type JsonRecord } from '../../json.ts';
import { wireNames, type WireNames } from '../../wire-names.ts';
import { reasoningOf } from '../reasoning.ts';

export const GENERATE_PROVIDER = 'llm_generate';

/** Accepted in place of a signature for calls that another provider made; without one the request is refused. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

interface WireContent {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonRecord[];
}

export function toolNames(request: LlmRequest): WireNames {
  const calls = request.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  );
  return wireNames([...request.tools, ...calls].map(({ name }) => name));
}

/** The service takes no instructions for Gemma up to its third generation, whose own templates do. */
function shapeAt(model: string): ModelShape {
  const shape = shapeOf(model);
  return { ...shape, isSystemless: shape.isSystemless || /gemma-3/.test(model) };
}

/** JSON text of the request. */
export function renderGenerateRequest(
  request: LlmRequest,
  options: LlmGenerateOptions,
  names: WireNames = toolNames(request),
): string {
  const { system, turns } = pairHistory(request, vendorIds, shapeAt(options.model));
  const generation = {
    ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.thinkingLevel !== undefined && {
      thinkingConfig: { thinkingLevel: options.thinkingLevel.toUpperCase() },
    }),
  };
  return writeJson({
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(request.tools.length > 0 && {
      tools: [{ functionDeclarations: request.tools.map((tool) => renderTool(tool, names)) }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    }),
    contents: renderContents(turns, { names, model: options.model }),
    ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
  });
}

function renderTool({ name, description, parameters }: ToolDeclaration, names: WireNames): JsonRecord {
  const schema = Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== '$schema'));
  return { name: names.toWire(name), description, parametersJsonSchema: schema };
}

interface Rendering {
  readonly names: WireNames;
  readonly model: string;
}

function renderContents(turns: readonly Turn[], { names, model }: Rendering): WireContent[] {
  // Signatures are asked for from the last words of the user on, by models of the third generation and later.
  const current = /^gemini-[12]\b/.test(model)
    ? turns.length
    : turns.findLastIndex(({ role }) => role === 'user');
  const out: WireContent[] = [];
  for (const [at, turn] of turns.entries()) {
    for (const content of renderTurn(turn, { names, needsSignature: at > current })) {
      const last = out.at(-1);
      if (last?.role !== content.role) out.push(content);
      else out[out.length - 1] = { role: last.role, parts: [...last.parts, ...content.parts] };
    }
  }
  return out;
}

interface TurnRendering {
  readonly names: WireNames;
  readonly needsSignature: boolean;
}

function renderTurn(turn: Turn, rendering: TurnRendering): WireContent[] {
  if (turn.role === 'user') return [{ role: 'user', parts: [{ text: turn.text }] }];
  const text = turn.text === '' ? [] : [{ text: turn.text }];
  const spoken: WireContent = { role: 'model', parts: [...text, ...callParts(turn, rendering)] };
  if (turn.calls.length === 0) return [spoken];
  return [spoken, { role: 'user', parts: turn.calls.map((call) => resultPart(call, rendering.names)) }];
}

function callParts(
  { calls, reasoning }: AssistantTurn,
  { names, needsSignature }: TurnRendering,
): JsonRecord[] {
  const signatures = reasoningOf(reasoning, GENERATE_PROVIDER);
  return calls.map((call, at) => {
    const own = textOf(signatures.get(call.id)?.[0]);
    const signature = own === '' && at === 0 && needsSignature ? NO_SIGNATURE : own;
    return {
      functionCall: { ...idOf(call), name: names.toWire(call.name), args: parseJson(call.arguments) },
      ...(signature !== '' && { thoughtSignature: signature }),
    };
  });
}

function resultPart(call: PairedCall, names: WireNames): JsonRecord {
  const output = treeIn(call.result) ?? call.result;
  return { functionResponse: { ...idOf(call), name: names.toWire(call.name), response: { output } } };
}

/** An id that was made up here is not sent: the model never gave one, and order pairs the results then. */
function idOf({ id, wireId }: PairedCall): { readonly id?: string } {
  return /^call_\d{1,9}$/.test(id) ? {} : { id: wireId };
}
