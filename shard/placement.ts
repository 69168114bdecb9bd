import { matchesLabels } from '../framework/selectors.ts'
import { requirementsOf } from './claims/selector.ts'
import type { Shard, Workspace } from './controllers/objects.ts'
import {
  chosenClusterAnnotation,
  regionLabel,
  shardAnnotation,
  shardHashAnnotation,
  unschedulableAnnotation,
  workspaceFinalizer,
} from './metadata.ts'
import { shardHash, workspaceClusterName } from './names.ts'
import { withMetadata } from './registry/strategy.ts'

/** Where a workspace's logical cluster is going to be, or why nowhere. */
export type Placement = { readonly shard: Shard } | { readonly problem: string }

/** Any shard that the workspace's selector matches and that takes workspaces (chapter 20, section 3.4). */
export function placementOf({ spec }: Workspace, shards: readonly Shard[]): Placement {
  const wanted = spec?.location?.selector ?? {}
  const wrong = wanted.matchExpressions?.map(problemOf).find(problem => problem !== undefined)
  if (wrong !== undefined) return { problem: `spec.location.selector is invalid: ${wrong}` }
  const selector = requirementsOf(wanted)
  const fitting = shards.filter(
    ({ metadata: { labels = {}, annotations = {} } }) =>
      !(unschedulableAnnotation in annotations) && matchesLabels(selector, labels),
  )
  const shard = fitting[Math.floor(Math.random() * fitting.length)]
  return shard === undefined ? { problem: 'No available shards to schedule the workspace' } : { shard }
}

interface Expression {
  readonly operator?: string
  readonly values?: readonly string[]
}

function problemOf(expression: unknown): string | undefined {
  const { operator = '', values = [] } = expression as Expression
  if (operator === 'Exists' || operator === 'DoesNotExist') return undefined
  if (operator !== 'In' && operator !== 'NotIn')
    return `${JSON.stringify(operator)} is not a valid label selector operator`
  return values.length > 0
    ? undefined
    : `values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`
}

/** The workspace with the choice written down, before the logical cluster exists: a crash between the two does no harm. */
export function placed(workspace: Workspace, { metadata: { name = '', labels } }: Shard): Workspace {
  const { annotations = {}, finalizers = [] } = workspace.metadata
  return withMetadata(workspace, {
    annotations: {
      ...annotations,
      [shardAnnotation]: name,
      [shardHashAnnotation]: shardHash(name),
      [chosenClusterAnnotation]: annotations[chosenClusterAnnotation] ?? workspaceClusterName(),
    },
    labels: regional(workspace, labels?.[regionLabel]),
    finalizers: [...finalizers.filter(each => each !== workspaceFinalizer), workspaceFinalizer],
  }) as Workspace
}

function regional({ metadata: { labels = {} } }: Workspace, region: string | undefined): unknown {
  const { [regionLabel]: _, ...others } = labels
  return region === undefined ? others : { ...others, [regionLabel]: region }
}
