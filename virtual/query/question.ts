import { inTurns, type Pace } from '../../framework/async/awaitable.ts'
import type { ApiResource, Item, Selection, UserInfo } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import { type OrderValue, orderIn } from '../../framework/selectors/order.ts'
import type { LabelRequirement } from '../../framework/selectors/selectors.ts'
import {
  type ClusterFacts,
  compileQueryExpression,
  type ExpressionAllowance,
  prepareExpressions,
  requestAllowance,
  type UserFacts,
  type ViewExpression,
} from '../../openapi/index.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import type { Unit } from './units.ts'

/** The query parameters of a query. */
export const queryOptions = ['where', 'orderBy', 'part'] as const

/** Characters of one expression. */
const longest = 2_048

/** Characters of a text by which objects are ordered. */
const longestOrdered = 256

/** The variable, unless it is used for the name or the path. */
const factsOfWorkspaces = /\bcluster\b(?!\s*\.\s*(?:name|path)\b)/

/** What a query asks about each object. */
export class QueryQuestion {
  readonly where: string
  readonly orderBy: string
  readonly isDescending: boolean
  /** Whether an expression can use labels and annotations of Workspaces. */
  readonly usesWorkspaces: boolean
  /** A front proxy asks for the part of one shard. */
  readonly isPart: boolean
  readonly #clusters: ClusterIndex
  readonly #user: UserFacts
  /** What its expressions may use; a watch renews it between batches. */
  readonly allowance: ExpressionAllowance = requestAllowance()
  /** By the schema of a kind. */
  readonly #compiled = new Map<unknown, Compiled>()

  /** Throws 400 for expressions that are too long. */
  constructor({ options = {} }: Selection, clusters: ClusterIndex, user: UserInfo) {
    const { where = '', orderBy = '', part = '' } = options
    // Before the patterns below, whose time is quadratic.
    for (const [name, text] of Object.entries({ where, orderBy }))
      if (text.length > longest) throw badRequest(`${name}: an expression has at most ${longest} characters`)
    this.where = where
    const { expression, sign } = orderIn(orderBy)
    this.isDescending = sign === -1
    this.orderBy = expression
    this.isPart = part === 'true'
    this.usesWorkspaces = factsOfWorkspaces.test(`${where} ${orderBy}`)
    const { name, uid = '', groups, extra = {} } = user
    this.#clusters = clusters
    this.#user = { name, uid, groups, extra }
  }

  /** Prepares the expressions for the resource, between the turns of other requests. */
  async prepare(resource: ApiResource, pace: Pace): Promise<void> {
    if (this.where + this.orderBy !== '') await inTurns(prepareExpressions(kindOf(resource)), pace)
  }

  /** What is wrong with the expressions for the resource; undefined if nothing is. Throws `CostSpent`. */
  problemFor(resource: ApiResource): string | undefined {
    const { where, orderBy } = this.#of(resource)
    for (const [name, found] of [['where', where] as const, ['orderBy', orderBy] as const])
      if (found !== undefined && 'problem' in found) return `${name}: ${found.problem}`
    return undefined
  }

  /** Labels of all objects that it selects. Throws `CostSpent`. */
  labelsFor(resource: ApiResource): readonly LabelRequirement[] {
    const { where } = this.#of(resource)
    return where !== undefined && 'labels' in where ? where.labels : []
  }

  /** Whether the item is selected; it is not when the expression fails. Throws `CostSpent`. */
  selects(item: Item, unit: Unit): boolean {
    const { where } = this.#of(unit.resource)
    return where === undefined || this.#evaluate(where, item, unit) === true
  }

  /** The value by which the item is ordered. Throws `CostSpent`. */
  valueOf(item: Item, unit: Unit): OrderValue {
    const { orderBy } = this.#of(unit.resource)
    const value = orderBy === undefined ? null : this.#evaluate(orderBy, item, unit)
    if (typeof value === 'bigint') return Number(value)
    if (typeof value === 'number' && !Number.isFinite(value)) return null
    return typeof value === 'string' ? value.slice(0, longestOrdered) : ((value ?? null) as OrderValue)
  }

  /** undefined when the expression fails, or is wrong for this kind. */
  #evaluate(expression: Expression, item: Item, unit: Unit): unknown {
    if ('problem' in expression) return undefined
    const subject = { item, cluster: this.#factsFor(unit), user: this.#user }
    const result = expression.evaluate(subject, this.allowance)
    if ('value' in result) return result.value
    if (result.isOverBudget) throw new CostSpent()
    return undefined
  }

  /** Without labels and annotations of a Workspace that the user may not read. */
  #factsFor({ cluster, readsWorkspace }: Unit): ClusterFacts {
    const facts = this.#clusters.of(cluster)
    return readsWorkspace ? facts : { name: facts.name, path: facts.path }
  }

  #of(resource: ApiResource): Compiled {
    const known = this.#compiled.get(resource.openapi)
    if (known !== undefined) return known
    const kind = kindOf(resource)
    if (this.allowance.left <= 0) throw new CostSpent()
    const compile = (text: string, use: 'bool' | 'cell') =>
      text === '' ? undefined : compileQueryExpression(text, kind, use, this.allowance)
    const compiled = { where: compile(this.where, 'bool'), orderBy: compile(this.orderBy, 'cell') }
    this.#compiled.set(resource.openapi, compiled)
    return compiled
  }
}

const kindOf = ({ group, version, names, openapi }: ApiResource) => ({
  group,
  version,
  openapi,
  kind: names.kind,
})

type Expression = ViewExpression | { readonly problem: string }

interface Compiled {
  readonly where: Expression | undefined
  readonly orderBy: Expression | undefined
}

/** The expressions of a request have no cost left. */
export class CostSpent extends Error {}

/** 400 where no page can be returned. */
export const tooExpensive = (): Error =>
  badRequest(
    'the expressions of the query cost too much for one request: use limit, or ask about fewer objects',
  )
