import type { Known } from '../erasing.ts'
import type { Outcome } from '../play.ts'
import type { Step } from '../step.ts'
import { knownOfAnswers } from './answers.ts'
import { knownOfKinds } from './kinds.ts'
import { knownOfWords } from './words.ts'

/** Each with the reason why it stays. */
const known: readonly Known[] = [...knownOfAnswers, ...knownOfWords, ...knownOfKinds]

/** A response without known differences. */
export const pastKnown = (outcome: Outcome, step: Step): Outcome =>
  known.reduce((rest, { erase }) => erase(rest, step), outcome)
