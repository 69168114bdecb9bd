import { inTurns, Pace, pacedMap } from '../../framework/async/awaitable.ts'
import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import type { ItemList, ItemWatch, ResourceStorage } from '../../framework/contract/storage.ts'
import { badRequest, methodNotSupported } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import type { Explainer } from '../explain/explanation.ts'
import type { Explanation } from '../explain/visibility.ts'
import type { PolicyRule } from '../rbac/policyrule.ts'
import { type RbacSource, record, text } from '../rbac/rbacsource.ts'
import { rulesSteps } from '../rbac/ruleslist.ts'
import { explainAnnotation, explanationAnnotation, viewAnnotation } from './annotations.ts'
import { withLargeStatus } from './largestatus.ts'
import { selectorsIn } from './reviewselectors.ts'
import { checkReview, checkSubject } from './reviewspec.ts'

/** Evaluates one review: returns the object with its `status`, possibly as an item. */
type Answer = (ctx: RequestContext, object: KubeObject) => Promise<KubeObject | Item>

/**
 * Storages of review resources, by `<plural>.<group>`: `create` stores nothing and returns the object with its status
 * (`pkg/registry/authorization` of Kubernetes).
 */
export const reviewStorages = (
  authorizer: Authorizer,
  rbac: RbacSource,
  explainer?: Explainer,
): Readonly<Record<ReviewResource, ResourceStorage>> => ({
  ...accessReviewStorages(authorizer, explainer),
  ...storagesOf({
    'selfsubjectrulesreviews.authorization.k8s.io': rulesAnswer(rbac),
    'selfsubjectreviews.authentication.k8s.io': async (ctx, object) =>
      withStatus(object, { userInfo: printUser(ctx.actAs) }),
  }),
})

/** Storages of the reviews of one action. */
export function accessReviewStorages(
  authorizer: Authorizer,
  explainer?: Explainer,
): Readonly<Record<AccessReviewResource, ResourceStorage>> {
  const access =
    (userOf: (ctx: RequestContext, object: KubeObject) => UserInfo): Answer =>
    async (ctx, object) => {
      checkReview(object, namespaceOf(ctx))
      const question = questionOf(ctx, object, userOf(ctx, object))
      const url = object.metadata.annotations?.[viewAnnotation]
      if (explainer !== undefined && url !== undefined)
        return throughView(explainer, ctx, { ...question, url }, object)
      const reviewed = withStatus(object, await accessStatus(authorizer, ctx, question))
      return explainer === undefined ? reviewed : explained(explainer, ctx, question, reviewed)
    }
  return storagesOf({
    'selfsubjectaccessreviews.authorization.k8s.io': access(callerOf),
    'subjectaccessreviews.authorization.k8s.io': access(subjectOf),
    'localsubjectaccessreviews.authorization.k8s.io': access(subjectOf),
  })
}

const storagesOf = <R extends ReviewResource>(
  answers: Readonly<Record<R, Answer>>,
): Readonly<Record<R, ResourceStorage>> =>
  Object.fromEntries(
    Object.entries<Answer>(answers).map(([resource, answer]) => [resource, review(resource, answer)]),
  ) as Record<R, ResourceStorage>

/** `<plural>.<group>` */
export type ReviewResource =
  | AccessReviewResource
  | 'selfsubjectrulesreviews.authorization.k8s.io'
  | 'selfsubjectreviews.authentication.k8s.io'

type AccessReviewResource =
  | 'selfsubjectaccessreviews.authorization.k8s.io'
  | 'subjectaccessreviews.authorization.k8s.io'
  | 'localsubjectaccessreviews.authorization.k8s.io'

function review(name: string, answer: Answer): ResourceStorage {
  const [resource = '', group = ''] = name.split(/\.(.*)/s)
  const refuse = (verb: string): never => {
    throw methodNotSupported({ group, resource }, verb)
  }
  return {
    get: async () => refuse('get'),
    list: (): ItemList => refuse('list'),
    watch: (): ItemWatch => refuse('watch'),
    update: async () => refuse('update'),
    delete: async () => refuse('delete'),
    create: async (ctx, _key, object): Promise<Item> => {
      const answered = await answer(ctx, object)
      return 'bytes' in answered ? (answered as Item) : itemOf(answered as KubeObject, ctx.cluster)
    },
  }
}

const withStatus = (object: KubeObject, status: object): KubeObject => ({ ...object, status })
const callerOf = (ctx: RequestContext): UserInfo => ctx.actAs
const namespaceOf = ({ info }: RequestContext): string => (info.isResource ? info.namespace : '')

/** The user that a review names, with the groups that it lists. */
function subjectOf(_ctx: RequestContext, object: KubeObject): UserInfo {
  const { user, groups, uid, extra } = checkSubject(object)
  return { name: user, groups, ...(uid === '' ? {} : { uid }), ...(extra === undefined ? {} : { extra }) }
}

/** The user and the action of a review, and the errors of its selectors. */
interface ReviewQuestion {
  readonly user: UserInfo
  readonly action: Action
  readonly problems: readonly string[]
}

function questionOf(ctx: RequestContext, object: KubeObject, user: UserInfo): ReviewQuestion {
  const { problems, ...selectors } = selectorsIn(record(object.spec).resourceAttributes)
  return { user, action: { ...actionOf(ctx, object), ...selectors }, problems }
}

function actionOf(ctx: RequestContext, object: KubeObject): Action {
  const spec = record(object.spec)
  const { cluster } = ctx
  const deep = isDeep(ctx, object) ? { deep: true } : {}
  if (spec.resourceAttributes === undefined || spec.resourceAttributes === null) {
    const { path, verb } = record(spec.nonResourceAttributes)
    return { verb: text(verb), cluster, path: text(path), ...deep }
  }
  const { verb, ...attributes } = record(spec.resourceAttributes)
  return { verb: text(verb), cluster, resource: resourceIn(attributes), ...deep }
}

function resourceIn(attributes: Readonly<Record<string, unknown>>): NonNullable<Action['resource']> {
  const { group, version, resource, subresource, namespace, name } = attributes
  return {
    group: text(group),
    version: text(version),
    resource: text(resource),
    subresource: text(subresource),
    namespace: text(namespace),
    name: text(name),
  }
}

/**
 * A deep review is requested by a header, and requires direct membership in `system:masters`: warrants do not count.
 */
const isDeep = ({ deepReview, user }: RequestContext, { kind }: KubeObject): boolean =>
  deepReview === true && kind === 'SubjectAccessReview' && isPrivileged(user)

async function accessStatus(authorizer: Authorizer, ctx: RequestContext, question: ReviewQuestion) {
  const { user, action, problems } = question
  try {
    const decision = await authorizer.authorize(user, action, ctx.signal)
    ctx.record.decided?.('sar.auth.kcp.io', decision)
    const { effect, reason } = decision
    return {
      allowed: effect === 'allow',
      ...(effect === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(problems.length === 0 ? {} : { evaluationError: problems.join('; ') }),
    }
  } catch (error) {
    ctx.record.log.error({ error: String(error) }, 'evaluating an access review failed')
    return { allowed: false, evaluationError: ['the authorizer failed', ...problems].join('; ') }
  }
}

async function throughView(
  explainer: Explainer,
  { user: requester, signal, record }: RequestContext,
  question: ReviewQuestion & { readonly url: string },
  object: KubeObject,
): Promise<KubeObject> {
  const explanation = await explainer.throughView({ requester, signal, record, ...question })
  const { allowed } = explanation
  const reason = allowed ? 'access granted' : 'access denied'
  return withExplanation(withStatus(object, { allowed, reason }), explanation)
}

function withExplanation(object: KubeObject, explanation: Explanation): KubeObject {
  const { annotations: _, ...metadata } = object.metadata
  const annotations = { [explanationAnnotation]: JSON.stringify(explanation) }
  return { ...object, metadata: { ...metadata, annotations } }
}

/** An annotation, because clients keep unknown annotations in every encoding. */
async function explained(
  explainer: Explainer,
  { user: requester, signal }: RequestContext,
  question: ReviewQuestion,
  object: KubeObject,
): Promise<KubeObject> {
  if (object.metadata.annotations?.[explainAnnotation] !== 'true') return object
  return withExplanation(object, await explainer.explain({ requester, signal, ...question }))
}

const rulesAnswer =
  (rbac: RbacSource): Answer =>
  async (ctx, object) => {
    const namespace = text(record(object.spec).namespace)
    if (namespace === '') throw badRequest('no namespace on request')
    const rules = await inTurns(rulesSteps(rbac, ctx.actAs, ctx.cluster, namespace), new Pace())
    const status = {
      resourceRules: await pacedMap(rules, rule =>
        rule.resources?.length ? printResourceRule(rule) : undefined,
      ),
      nonResourceRules: await pacedMap(rules, rule =>
        rule.nonResourceURLs?.length ? printPathRule(rule) : undefined,
      ),
      incomplete: false,
    }
    // Kubernetes also returns no spec here.
    return withLargeStatus({ ...object, spec: {} }, status, ctx.cluster)
  }

const printResourceRule = ({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule) => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})

const printPathRule = ({ verbs, nonResourceURLs = [] }: PolicyRule) => ({ verbs, nonResourceURLs })

const printUser = ({ name, uid, groups, extra }: UserInfo) => ({
  username: name,
  ...(uid === undefined ? {} : { uid }),
  groups,
  ...(extra === undefined ? {} : { extra }),
})
