/** All scripted conversations, by chapter. */
import type { Dialogue } from '../support/core/dialogue.ts';
import { anotherWorker } from './scripts/another-worker.ts';
import { anotherAgent } from './scripts/another-agent.ts';
import { asides } from './scripts/asides.ts';
import { background } from './scripts/background.ts';
import { commands } from './scripts/commands.ts';
import { confirmations } from './scripts/confirmations.ts';
import { conversation } from './conversation.ts';
import { edits } from './scripts/edits.ts';
import { endings } from './scripts/endings.ts';
import { failures } from './scripts/failures.ts';
import { flows } from './scripts/flows.ts';
import { heard } from './scripts/heard.ts';
import { interruptions } from './scripts/interruptions.ts';
import { keysAndIdle } from './scripts/keys-and-idle.ts';
import { lastResort } from './scripts/last-resort.ts';
import { answered, lines } from './scripts/lines.ts';
import { lateWords } from './scripts/late-words.ts';
import { listening } from './scripts/listening.ts';
import { murmurs } from './scripts/murmurs.ts';
import { operators } from './scripts/operators.ts';
import { partings } from './partings.ts';
import { silence } from './scripts/silence.ts';
import { speculation } from './scripts/speculation.ts';
import { turnTaking } from './scripts/turn-taking.ts';
import { transfers } from './scripts/transfers.ts';
import { toolsCut } from './scripts/tools-cut.ts';
import { toolRounds } from './scripts/tools.ts';

export const chapters: Readonly<Record<string, readonly Dialogue[]>> = {
  conversation,
  'turn taking': turnTaking,
  speculation,
  interruptions,
  listening,
  'listening aloud': murmurs,
  'somebody else in the room': background,
  'what is said into a response that goes on': asides,
  'what was heard': heard,
  lines,
  'commands that are answered': commands,
  'no dead air': silence,
  'keys and silence': keysAndIdle,
  failures,
  'a voice that was never there': lastResort,
  endings,
  partings,
  tools: toolRounds,
  'tools that are cut': toolsCut,
  transfers,
  'another agent': anotherAgent,
  'words that come late': lateWords,
  confirmations,
  flows,
  'an operator takes over': operators,
  'edits from outside': edits,
  'who has answered': answered,
  'another worker': anotherWorker,
};
