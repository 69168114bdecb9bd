import type { Action, Authorizer } from '../framework/authorizer.ts'
import type { RequestContext } from '../framework/context.ts'
import { badRequest, methodNotSupported } from '../framework/errors.ts'
import { type Item, itemOf } from '../framework/item.ts'
import type { KubeObject } from '../framework/object.ts'
import type { ItemList, ItemWatch, ResourceStorage } from '../framework/storage.ts'
import type { UserInfo } from '../framework/user.ts'
import { record, text } from './objects.ts'
import type { PolicyRule } from './policyrule.ts'
import type { RbacSource } from './rbacsource.ts'
import { checkReview, checkSubject } from './reviewspec.ts'
import { rulesOf } from './ruleslist.ts'

/** Answers one review: the object with its `status`. */
type Answer = (ctx: RequestContext, object: KubeObject) => Promise<KubeObject>

/**
 * The review kinds by `<plural>.<group>`, each a storage of which only `create` does something: it stores nothing and returns the
 * object with its status (chapter 40, section 9.3; chapter 30, section 2.8).
 */
export function reviewStorages(
  authorizer: Authorizer,
  rbac: RbacSource,
): Readonly<Record<ReviewResource, ResourceStorage>> {
  const access =
    (userOf: (ctx: RequestContext, object: KubeObject) => UserInfo): Answer =>
    async (ctx, object) => {
      checkReview(object, namespaceOf(ctx))
      return withStatus(
        object,
        await accessStatus(authorizer, ctx, userOf(ctx, object), actionOf(ctx, object)),
      )
    }
  const answers: Readonly<Record<ReviewResource, Answer>> = {
    'selfsubjectaccessreviews.authorization.k8s.io': access(callerOf),
    'subjectaccessreviews.authorization.k8s.io': access(subjectOf),
    'localsubjectaccessreviews.authorization.k8s.io': access(subjectOf),
    'selfsubjectrulesreviews.authorization.k8s.io': rulesAnswer(rbac),
    'selfsubjectreviews.authentication.k8s.io': async (ctx, object) =>
      withStatus(object, { userInfo: printUser(ctx.actAs) }),
  }
  const storages = Object.entries(answers).map(([resource, answer]) => [resource, review(resource, answer)])
  return Object.fromEntries(storages)
}

/** `<plural>.<group>` */
export type ReviewResource =
  | 'selfsubjectaccessreviews.authorization.k8s.io'
  | 'subjectaccessreviews.authorization.k8s.io'
  | 'localsubjectaccessreviews.authorization.k8s.io'
  | 'selfsubjectrulesreviews.authorization.k8s.io'
  | 'selfsubjectreviews.authentication.k8s.io'

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
    create: async (ctx, _key, object): Promise<Item> => itemOf(await answer(ctx, object), ctx.cluster),
  }
}

const withStatus = (object: KubeObject, status: object): KubeObject => ({ ...object, status })
const callerOf = (ctx: RequestContext): UserInfo => ctx.actAs
const namespaceOf = ({ info }: RequestContext): string => (info.isResource ? info.namespace : '')

/** The user that a review names; its groups are taken as they are (chapter 30, section 2.8). */
function subjectOf(_ctx: RequestContext, object: KubeObject): UserInfo {
  const { user, groups, uid, extra } = checkSubject(object)
  return { name: user, groups, ...(uid === '' ? {} : { uid }), ...(extra === undefined ? {} : { extra }) }
}

function actionOf(ctx: RequestContext, object: KubeObject): Action {
  const spec = record(object.spec)
  if (spec.resourceAttributes === undefined || spec.resourceAttributes === null) {
    const { path, verb } = record(spec.nonResourceAttributes)
    return { verb: text(verb), cluster: ctx.cluster, path: text(path) }
  }
  const { verb, group, version, resource, subresource, namespace, name } = record(spec.resourceAttributes)
  return {
    verb: text(verb),
    cluster: ctx.cluster,
    resource: {
      group: text(group),
      version: text(version),
      resource: text(resource),
      subresource: text(subresource),
      namespace: text(namespace),
      name: text(name),
    },
  }
}

async function accessStatus(authorizer: Authorizer, ctx: RequestContext, user: UserInfo, action: Action) {
  const { effect, reason } = await authorizer.authorize(user, action, ctx.signal)
  return {
    allowed: effect === 'allow',
    ...(effect === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
  }
}

const rulesAnswer =
  (rbac: RbacSource): Answer =>
  async (ctx, object) => {
    const namespace = text(record(object.spec).namespace)
    if (namespace === '') throw badRequest('no namespace on request')
    const rules = rulesOf(rbac, ctx.actAs, ctx.cluster, namespace)
    return withStatus(object, {
      resourceRules: rules.filter(rule => rule.resources?.length).map(printResourceRule),
      nonResourceRules: rules.filter(rule => rule.nonResourceURLs?.length).map(printPathRule),
      incomplete: false,
    })
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
