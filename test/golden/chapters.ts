/** All scripted conversations, by chapter. */
import type { Dialogue } from '../support/dialogue.ts';
import { conversation } from './conversation.ts';
import { endings } from './endings.ts';
import { failures } from './failures.ts';
import { interruptions } from './interruptions.ts';
import { keysAndIdle } from './keys-and-idle.ts';

export const chapters: Readonly<Record<string, readonly Dialogue[]>> = {
  conversation,
  interruptions,
  'keys and silence': keysAndIdle,
  failures,
  endings,
};
