import type { KindDefinition } from '../definition.ts'
import { view } from './view.ts'

/** The kinds of Oriel that every logical cluster has. */
export const orielKinds: readonly KindDefinition[] = [view]
