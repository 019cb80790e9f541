/** All scripted conversations, by chapter. */
import type { Dialogue } from '../support/dialogue.ts';
import { anotherWorker } from './another-worker.ts';
import { asides } from './asides.ts';
import { commands } from './commands.ts';
import { confirmations } from './confirmations.ts';
import { conversation } from './conversation.ts';
import { edits } from './edits.ts';
import { endings } from './endings.ts';
import { failures } from './failures.ts';
import { flows } from './flows.ts';
import { heard } from './heard.ts';
import { interruptions } from './interruptions.ts';
import { keysAndIdle } from './keys-and-idle.ts';
import { lastResort } from './last-resort.ts';
import { lines } from './lines.ts';
import { listening } from './listening.ts';
import { silence } from './silence.ts';
import { speculation } from './speculation.ts';
import { turnTaking } from './turn-taking.ts';
import { toolsCut } from './tools-cut.ts';
import { toolRounds } from './tools.ts';

export const chapters: Readonly<Record<string, readonly Dialogue[]>> = {
  conversation,
  'turn taking': turnTaking,
  speculation,
  interruptions,
  listening,
  'what is said into a response that goes on': asides,
  'what was heard': heard,
  lines,
  'commands that are answered': commands,
  'no dead air': silence,
  'keys and silence': keysAndIdle,
  failures,
  'a voice that was never there': lastResort,
  endings,
  tools: toolRounds,
  'tools that are cut': toolsCut,
  confirmations,
  flows,
  'edits from outside': edits,
  'another worker': anotherWorker,
};
