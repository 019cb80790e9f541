/**
 * What callers say over an agent that speaks, by language: nods, which want nothing, and short interruptions, which do. The word lists of the
 * languages were chosen on those at even places. Those at odd places are kept aside: nobody adds a word because one of them is missed.
 */
import { dutch } from './nl.ts';
import { english } from './en.ts';
import { french } from './fr.ts';
import { german } from './de.ts';
import { hindi } from './hi.ts';
import { italian } from './it.ts';
import { polish } from './pl.ts';
import { portuguese } from './pt.ts';
import { spanish } from './es.ts';
import { turkish } from './tr.ts';

export interface OverSpeech {
  readonly nods: readonly string[];
  readonly interruptions: readonly string[];
}

export const overSpeech: Readonly<Record<string, OverSpeech>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  tr: turkish,
  it: italian,
  pt: portuguese,
  nl: dutch,
  pl: polish,
  hi: hindi,
};
