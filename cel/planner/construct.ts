import type { ListExpr, MapExpr, StructExpr } from '../syntax/ast.ts'
import { charge } from '../values/costtracker.ts'
import { LiteralMap } from '../values/maps.ts'
import { CelError, type CelValue, noSuchOverload, Optional, StructValue } from '../values/value.ts'
import {
  constantOf,
  type Eval,
  type ExecutionFrame,
  type Interpretable,
  isError,
  newExecutionFrame,
  type Planner,
} from './plan.ts'

const listCost = 10
const mapCost = 30
const structCost = 40

interface Part {
  readonly run: Eval
  readonly optional: boolean
}

/** The value of a part; undefined for an optional part that is optional.none(). */
function partValue(frame: ExecutionFrame, { run, optional }: Part): CelValue | undefined {
  const value = run(frame)
  if (!optional || isError(value)) return value
  return value instanceof Optional ? value.value : noSuchOverload
}

export function planList(plan: Planner, { elements }: ListExpr): Interpretable {
  const planned = elements.map(({ value, optional }) => ({ ...plan.plan(value), optional }))
  if (planned.every(({ constant, optional }) => constant !== undefined && !optional))
    return constantOf(planned.map(({ constant = null }) => constant))
  return {
    run: frame => {
      const values: CelValue[] = []
      for (const part of planned) {
        const value = partValue(frame, part)
        if (value !== undefined && isError(value)) return value
        if (value !== undefined) values.push(value)
      }
      charge(frame, listCost)
      return values
    },
  }
}

export function planMap(plan: Planner, { entries }: MapExpr): Interpretable {
  const planned = entries.map(({ key, value, optional }) => ({
    key: plan.plan(key),
    value: { ...plan.plan(value), optional },
  }))
  const isConstant = planned.every(
    ({ key, value }) => key.constant !== undefined && value.constant !== undefined && !value.optional,
  )
  const run: Eval = frame => {
    const pairs: (readonly [CelValue, CelValue])[] = []
    for (const { key, value } of planned) {
      const name = key.run(frame)
      if (isError(name)) return name
      const found = partValue(frame, value)
      if (found !== undefined && isError(found)) return found
      if (found !== undefined) pairs.push([name, found])
    }
    return LiteralMap.of(pairs)
  }
  if (isConstant) return constantOf(run(newExecutionFrame([], 0, { left: 0 })))
  return {
    run: frame => {
      const map = run(frame)
      charge(frame, map instanceof CelError ? 0 : mapCost)
      return map
    },
  }
}

export function planStruct(plan: Planner, { type, fields }: StructExpr): Interpretable {
  const name = type.replace(/^\./, '')
  const planned = fields.map(({ name: field, value, optional }) => ({
    field,
    part: { ...plan.plan(value), optional },
  }))
  return {
    run: frame => {
      const values = new Map<string, CelValue>()
      for (const { field, part } of planned) {
        const value = partValue(frame, part)
        if (value !== undefined && isError(value)) return value
        if (value !== undefined) values.set(field, value)
      }
      charge(frame, structCost)
      return new StructValue(name, values)
    },
  }
}
