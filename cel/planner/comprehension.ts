import { insertAll } from '../library/optionals.ts'
import { type CallExpr, type ComprehensionExpr, type Expr, isBinding } from '../syntax/ast.ts'
import { charge, spend } from '../values/costtracker.ts'
import { LiteralMap } from '../values/maps.ts'
import {
  type CelValue,
  isList,
  isMap,
  itemAt,
  type ListView,
  type MapValue,
  noSuchOverload,
  sizeOf,
} from '../values/value.ts'
import { bare, isAttribute } from './attribute.ts'
import {
  branch,
  type Eval,
  type ExecutionFrame,
  type Interpretable,
  isError,
  type Planner,
  slotOf,
} from './plan.ts'
import type { LoopState } from './replay.ts'

/** The slots and parts of a loop. */
interface Loop {
  readonly accumulator: number
  readonly first: number
  readonly second: number | undefined
  readonly condition: Eval
  readonly step: Eval
}

/** Plans a comprehension: a loop over a list or map, or a binding. */
export function planComprehension(plan: Planner, fold: ComprehensionExpr): Interpretable {
  const range = plan.plan(fold.range).run
  const init = initial(plan, fold)
  const outer = plan.within([fold.accumulator])
  const names = fold.variable2 === undefined ? [fold.variable] : [fold.variable, fold.variable2]
  const inner = outer.within(names)
  const result = outer.plan(fold.result).run
  const accumulator = slotOf(outer, fold.accumulator)
  if (isBinding(fold)) return { run: bound(init, accumulator, result) }
  const loop: Loop = {
    accumulator,
    first: slotOf(inner, fold.variable),
    second: fold.variable2 === undefined ? undefined : slotOf(inner, fold.variable2),
    condition: inner.plan(fold.condition).run,
    step: planStep(inner, fold),
  }
  const run: Eval = frame => {
    const values = range(frame)
    if (isError(values)) return values
    frame.slots[accumulator] = init(frame)
    if (isList(values)) overList(frame, loop, values)
    else if (isMap(values)) overMap(frame, loop, values)
    else return noSuchOverload
    return result(frame)
  }
  const step = interruptible(loop, { range, init, result })
  return { run: frame => (frame.replay === undefined ? run(frame) : frame.replay.result(loop, frame, step)) }
}

/** The same, going on from where it was interrupted. */
function interruptible(
  loop: Loop,
  { range, init, result }: Readonly<Record<'range' | 'init' | 'result', Eval>>,
): Eval {
  return frame => {
    const { slots, replay } = frame
    let failure: CelValue = noSuchOverload
    const begun = replay?.loop(loop, frame, () => {
      const values = range(frame)
      if (isError(values)) failure = values
      return stateOf(values, () => init(frame))
    })
    if (begun === undefined) return failure
    const state = begun.loop
    slots[loop.accumulator] = state.accumulator
    for (;;) {
      replay?.advance(begun.place, frame)
      if (state.next >= state.size) break
      const item = state.at(state.next)
      const first = keyOf(loop, state) ?? item
      if (!turn(frame, loop, first, item)) break
      state.next++
      state.accumulator = slots[loop.accumulator] ?? null
    }
    return result(frame)
  }
}

/** The first variable of an iteration; undefined: the item of a list. */
const keyOf = ({ second }: Loop, { keys, next }: LoopState): CelValue | undefined =>
  keys?.[next] ?? (second === undefined ? undefined : next)

/** undefined for a value without items. */
function stateOf(values: CelValue, init: () => CelValue): LoopState | undefined {
  if (isList(values)) {
    const at = (index: number): CelValue => itemAt(values, index)
    return { size: sizeOf(values), at, keys: undefined, next: 0, accumulator: init() }
  }
  if (!isMap(values)) return undefined
  const keys = values.keys()
  const at = (index: number): CelValue => values.get(keys[index] ?? null) ?? null
  return { size: keys.length, at, keys, next: 0, accumulator: init() }
}

const bound =
  (init: Eval, slot: number, result: Eval): Eval =>
  frame => {
    frame.slots[slot] = init(frame)
    return result(frame)
  }

/** A list or map that the loop extends is created for each evaluation, so that it can be changed in place. */
function initial(plan: Planner, { init }: ComprehensionExpr): Eval {
  if (init.kind === 'list' && init.elements.length === 0) return () => []
  if (init.kind === 'map' && init.entries.length === 0) return () => LiteralMap.empty.copy()
  return plan.plan(init).run
}

function overList(frame: ExecutionFrame, loop: Loop, list: readonly CelValue[] | ListView): void {
  const size = sizeOf(list)
  for (let i = 0; i < size; i++) {
    const item = itemAt(list, i)
    if (!turn(frame, loop, loop.second === undefined ? item : i, item)) return
  }
}

function overMap(frame: ExecutionFrame, loop: Loop, map: MapValue): void {
  for (const key of map.keys()) {
    const value = loop.second === undefined ? key : (map.get(key) ?? null)
    if (!turn(frame, loop, key, value)) return
  }
}

/** One iteration; false if the loop has ended. */
function turn(frame: ExecutionFrame, loop: Loop, first: CelValue, second: CelValue): boolean {
  const { slots } = frame
  slots[loop.first] = first
  if (loop.second !== undefined) slots[loop.second] = second
  spend(frame, 1)
  if (loop.condition(frame) === false) return false
  slots[loop.accumulator] = loop.step(frame)
  return true
}

/** Steps that add to the accumulated list or map change it in place. */
function planStep(plan: Planner, fold: ComprehensionExpr): Eval {
  const { step } = fold
  if (step.kind !== 'call') return plan.plan(step).run
  const [test, yes, no] = step.args
  if (step.name !== '_?_:_') return growing(plan, fold, step) ?? plan.plan(step).run
  if (test === undefined || yes?.kind !== 'call' || no === undefined) return plan.plan(step).run
  const grow = growing(plan, fold, yes)
  if (grow === undefined) return plan.plan(step).run
  const condition = plan.plan(test).run
  const keep = isAttribute(plan, no) ? bare(plan, no) : plan.plan(no).run
  return branch(condition, grow, keep)
}

const isAccumulator = (expr: Expr | undefined, { accumulator }: ComprehensionExpr): boolean =>
  expr?.kind === 'ident' && expr.name === accumulator

function growing(plan: Planner, fold: ComprehensionExpr, { name, args }: CallExpr): Eval | undefined {
  const [target, ...added] = args
  if (!isAccumulator(target, fold)) return undefined
  const slot = slotOf(plan, fold.accumulator)
  if (name === '_+_' && fold.init.kind === 'list' && added[0]?.kind === 'list')
    return append(plan, slot, added[0])
  return name === 'cel.@mapInsert' && fold.init.kind === 'map' ? insert(plan, slot, added) : undefined
}

const newList = 10

function append(plan: Planner, slot: number, list: Extract<Expr, { kind: 'list' }>): Eval {
  const [element] = list.elements
  const planned = element === undefined ? undefined : plan.plan(element.value)
  // A list of constants is a constant, and costs nothing.
  const cost = planned?.constant === undefined ? newList : 0
  return frame => {
    const grown = frame.slots[slot]
    charge(frame, 1)
    const item = planned?.run(frame) ?? null
    charge(frame, cost + 1)
    if (!Array.isArray(grown)) return grown ?? null
    if (isError(item)) return item
    grown.push(item)
    return grown
  }
}

function insert(plan: Planner, slot: number, added: readonly Expr[]): Eval {
  const runs = added.map(expr => plan.plan(expr).run)
  return frame => {
    const grown = frame.slots[slot]
    charge(frame, 1)
    const values = runs.map(run => run(frame))
    charge(frame, 1)
    if (!(grown instanceof LiteralMap)) return grown ?? null
    const error = values.find(isError)
    if (error !== undefined) return error
    const [first = null, second] = values
    if (second !== undefined) return grown.insert(first, second) ?? grown
    return isMap(first) ? insertAll(grown, first) : noSuchOverload
  }
}
