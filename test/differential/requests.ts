import type { Random } from '../model/random.ts'
import { applyBadly } from './applies.ts'
import { create, createAnother, createBadly, createRaw } from './creates.ts'
import { createInYaml, createTwice, inProtobuf, scale, writeAs } from './forms.ts'
import { listBadly, watchBadly } from './listing.ts'
import type { Maker } from './making.ts'
import { answerAs, generate, removeAllAsSaid, removeWithOptions, writeWithOptions } from './options.ts'
import { apply, jsonPatch, mergePatch, strategicPatch } from './patches.ts'
import { list, read, readAs, watchAsList } from './reads.ts'
import type { Step, Subject } from './step.ts'
import { token, tried, triedDefinition } from './tries.ts'
import { odd, remove, removeAll, replace, writeStatus } from './writes.ts'

/** Kinds of requests, with their frequency. */
const makers: readonly (readonly [number, Maker])[] = [
  [16, create],
  [8, createBadly],
  [4, createAnother],
  [4, createRaw],
  [4, read],
  [4, readAs],
  [8, list],
  [10, replace],
  [9, mergePatch],
  [7, jsonPatch],
  [5, strategicPatch],
  [16, apply],
  [4, writeStatus],
  [8, remove],
  [2, removeAll],
  [3, odd],
  [3, createInYaml],
  [4, createTwice],
  [3, writeAs],
  [3, inProtobuf],
  [3, scale],
  [2, watchAsList],
  [4, writeWithOptions],
  [2, generate],
  [3, removeWithOptions],
  [2, removeAllAsSaid],
  [3, answerAs],
  [6, listBadly],
  [2, watchBadly],
  [4, applyBadly],
  [2, tried],
  [2, triedDefinition],
  [1, token],
]

const weighted = makers.flatMap(([weight, maker]) => Array.from({ length: weight }, () => maker))

/** A request of any kind for a subject. */
export const anyRequest = (subject: Subject, random: Random): Step => random.pick(weighted)(subject, random)
