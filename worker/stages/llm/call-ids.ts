/** Ids of tool calls: those for calls that a server sends without one, and those that a server takes in a history. */
import { createHash } from 'node:crypto';
import type { ChatMessage } from '../stage.ts';

/** They start above every such id of the conversation, so that two rounds never share one. */
export function syntheticIds(messages: readonly ChatMessage[]): () => string {
  let next = 0;
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      const digits = /^call_(\d{1,9})$/.exec(call.id)?.[1];
      if (digits !== undefined) next = Math.max(next, Number(digits) + 1);
    }
  }
  return () => `call_${next++}`;
}

/** What a server takes for an id. */
export interface IdDialect {
  readonly fits: (id: string) => boolean;
  /** An id that fits: the same for the same text, so that retries and later rounds send the same. */
  readonly make: (text: string) => string;
}

/** Of the vendors' own services: at most 64 letters, digits, `_` and `-`. */
export const vendorIds: IdDialect = {
  fits: (id) => /^[A-Za-z0-9_-]{1,64}$/.test(id),
  make: (text) => text.replace(/[^A-Za-z0-9_-]/g, '_').slice(-64) || 'call',
};

/** Of Mistral's templates: exactly nine letters and digits, which every other server takes as well. */
export const nineLetters: IdDialect = {
  fits: (id) => /^[A-Za-z0-9]{9}$/.test(id),
  make: (text) => createHash('sha256').update(text).digest('hex').slice(0, 9),
};

/** Behind an address that is not the vendor's own there may be any model, and Mistral's are served in all interfaces. */
export const idsAt = (baseUrl: string, serviceAddress: string): IdDialect =>
  new URL(baseUrl).host === new URL(serviceAddress).host ? vendorIds : nineLetters;

/** Kimi's template shows the ids to the model, which learns its own form of a call from them. */
export const kimiIds: IdDialect = {
  fits: (id) => /^functions\.[\w-]{1,64}:\d{1,6}$/.test(id) || nineLetters.fits(id),
  make: nineLetters.make,
};

/** The ids of one request, each given once: what fits stays, as far as no call before it has it. */
export function requestIds({ fits, make }: IdDialect): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    let unique = fits(id) ? id : make(id);
    for (let n = 2; used.has(unique); n += 1) unique = make(`${id.slice(-48)}_${n}`);
    used.add(unique);
    return unique;
  };
}
