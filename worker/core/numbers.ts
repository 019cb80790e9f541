/** The newest number of everything that is numbered in a call. Anything that carries an older one is stale. */
import { number, record } from '../../shared/base/codec.ts';

export interface Numbers {
  /** User turns and lines of the agent. */
  epoch: number;
  /** Epochs that a worker which is gone may have begun and not written down: the client may know their numbers. */
  lostEpochs: number;
  /** Responses, towards TTS and playout. */
  context: number;
  /** Marks in what is sent. */
  mark: number;
  /** Requests to the LLM. */
  round: number;
  /** Questions to the turn model. */
  ask: number;
}

export const newNumbers = (): Numbers => ({
  epoch: 0,
  lostEpochs: 0,
  context: 0,
  mark: 0,
  round: 0,
  ask: 0,
});

export const numbersCodec = record<Numbers>({
  epoch: number,
  lostEpochs: number,
  context: number,
  mark: number,
  round: number,
  ask: number,
});
