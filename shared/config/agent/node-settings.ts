/** What a node of a flow has of its own: voice, LLM and language, which hold as long as the conversation is in the node (docs/tools.md, Flows). */
import type { Overrides, Tables } from '../../agents/overrides.ts';
import { isTable } from '../table.ts';

export type NodeKey = 'voice' | 'llm' | 'language';

export interface OwnOfNode {
  readonly voice?: string;
  readonly llm?: string;
  readonly language?: string;
}

/** The keys of sections that a key of a node stands for. A stage that has a language of its own gets the node's, too. */
export function pathsOf(key: NodeKey, tree: Tables): readonly string[] {
  if (key === 'voice') return ['tts.voice'];
  if (key === 'llm') return ['llm.model'];
  const stages = ['stt', 'tts'].filter((stage) => {
    const table = tree[stage];
    return isTable(table) && table['language'] !== undefined;
  });
  return ['agent.language', ...stages.map((stage) => `${stage}.language`)];
}

export const valuesOf = (own: OwnOfNode): readonly (readonly [NodeKey, string])[] =>
  (['voice', 'llm', 'language'] as const).flatMap((key) => {
    const value = own[key];
    return value === undefined ? [] : ([[key, value]] as const);
  });

/** As a call would have it otherwise; undefined for a node that has nothing of its own. */
export function overridesOfNode(own: OwnOfNode, tree: Tables): Overrides | undefined {
  const values = valuesOf(own);
  if (values.length === 0) return undefined;
  return Object.fromEntries(
    values.flatMap(([key, value]) => pathsOf(key, tree).map((path) => [path, value])),
  );
}
