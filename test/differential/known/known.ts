import type { Known } from '../erasing.ts'
import type { Outcome } from '../play.ts'
import type { Step } from '../step.ts'
import { knownOfAnswers } from './answers.ts'
import { knownOfKinds } from './kinds.ts'
import { knownOfWords } from './words.ts'

/** One by one, with the reason why each stays. */
const known: readonly Known[] = [...knownOfAnswers, ...knownOfWords, ...knownOfKinds]

/** An answer without what is known to differ. */
export const pastKnown = (outcome: Outcome, step: Step): Outcome =>
  known.reduce((rest, { erase }) => erase(rest, step), outcome)
