import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/errors.ts'
import { dns1123LabelErrors, dns1123SubdomainErrors, pathSegmentErrors } from '../../framework/names.ts'
import type { KubeObject } from '../../framework/object.ts'
import { defaultCustomResourceDefinition } from '../../openapi/crd.ts'
import { mannersOf } from '../../openapi/definitions/kubernetes/manners.ts'
import { definitionErrors, prepareDefinition, startDefinitionDeletion } from './crd.ts'
import { type Traits, withMetadata } from './strategy.ts'

type NameErrors = Traits['nameErrors']

/** A generateName is checked with something in the place of its trailing dash (chapter 40, rule 3.6). */
const masked =
  (check: (name: string) => readonly string[]): NameErrors =>
  (name, prefix) =>
    check(prefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

const subdomainName = masked(dns1123SubdomainErrors)
const labelName = masked(dns1123LabelErrors)
const pathSegmentName: NameErrors = (name, prefix) =>
  prefix && (name === '.' || name === '..') ? [] : pathSegmentErrors(name)

/** What every custom resource has in common (chapter 40, rules 3.7, 3.22, 3.29). */
export const customTraits: Traits = {
  custom: true,
  generation: 'content',
  nameErrors: subdomainName,
  unconditionalUpdate: false,
  createOnUpdate: false,
  deleteReturnsObject: false,
  collected: true,
}

/** For schemas with `nameValidation: PathSegmentName` (chapter 20, section 2.10). */
export const pathNamedTraits: Traits = { ...customTraits, nameErrors: pathSegmentName }

/** Most built-in kinds: no generation. */
const plain: Traits = { ...customTraits, custom: false, generation: 'none' }

const policy: Traits = { ...plain, generation: 'spec' }
const webhooks: Traits = { ...policy, generation: 'content' }

interface SecretLike {
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
  readonly type?: string
}

/** `stringData` is write-only: merged into `data` (chapter 40, rule 3.41). */
function mergeStringData(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object as KubeObject & SecretLike
  if (stringData === undefined) return object
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } } as KubeObject
}

const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  value,
  detail,
})

/** Secrets and ConfigMaps whose `immutable` is set keep their data, and stay immutable. */
function immutableDataErrors(object: KubeObject, old?: KubeObject): readonly FieldError[] {
  if (old?.immutable !== true) return []
  const forbidden = (field: string): FieldError => ({
    type: 'FieldValueForbidden',
    field,
    detail: 'field is immutable when `immutable` is set',
  })
  const changed = ['data', 'binaryData'].filter(field => !isDeepStrictEqual(object[field], old[field]))
  return [...(object.immutable === true ? [] : [forbidden('immutable')]), ...changed.map(forbidden)]
}

const secretErrors = (object: KubeObject, old?: KubeObject): readonly FieldError[] => [
  ...(old !== undefined && object.type !== old.type
    ? [invalidValue('type', object.type, 'field is immutable')]
    : []),
  ...tokenSecretErrors(object),
  ...immutableDataErrors(object, old),
]

/** A secret for the token of a service account says whose. */
function tokenSecretErrors({ type, metadata }: KubeObject): readonly FieldError[] {
  const annotation = 'kubernetes.io/service-account.name'
  if (type !== 'kubernetes.io/service-account-token' || metadata.annotations?.[annotation]) return []
  return [{ type: 'FieldValueRequired', field: `metadata.annotations[${annotation}]`, detail: '' }]
}

const kubernetesFinalizer = 'kubernetes'
type NamespaceSpec = { readonly finalizers?: readonly string[] } | undefined
const specFinalizers = (object: KubeObject): readonly string[] =>
  (object.spec as NamespaceSpec)?.finalizers ?? []

/** Without a name yet, there is nothing to say. */
function labelNamespace(object: KubeObject): KubeObject {
  const { name = '', labels } = object.metadata
  return name === ''
    ? object
    : withMetadata(object, { labels: { ...labels, 'kubernetes.io/metadata.name': name } })
}

/** Namespaces: held by `spec.finalizers`, Active until their deletion starts, labelled with their own name. */
function prepareNamespace(object: KubeObject, old?: KubeObject): KubeObject {
  const labelled = labelNamespace(object)
  if (old !== undefined) return { ...labelled, spec: old.spec }
  const finalizers = new Set([...specFinalizers(object), kubernetesFinalizer])
  return { ...labelled, spec: { finalizers: [...finalizers] }, status: { phase: 'Active' } }
}

const namespaces: Traits = {
  ...plain,
  nameErrors: labelName,
  complete: labelNamespace,
  prepare: prepareNamespace,
  held: object => specFinalizers(object).length > 0,
  onDelete: object => ({ ...object, status: { ...(object.status as object), phase: 'Terminating' } }),
}

const rbacGroup = 'rbac.authorization.k8s.io'

interface Subject {
  readonly kind: string
  readonly apiGroup?: string
}

/** Subjects and the role of a binding belong to the RBAC group unless they say otherwise. */
function prepareBinding(object: KubeObject): KubeObject {
  const subjects = ((object.subjects ?? []) as readonly Subject[]).map(subject =>
    subject.apiGroup || subject.kind === 'ServiceAccount' ? subject : { ...subject, apiGroup: rbacGroup },
  )
  const roleRef = object.roleRef as { apiGroup?: string } | undefined
  return {
    ...object,
    ...(subjects.length === 0 ? {} : { subjects }),
    ...(roleRef === undefined ? {} : { roleRef: { ...roleRef, apiGroup: roleRef.apiGroup || rbacGroup } }),
  }
}

const bindingErrors = (object: KubeObject, old?: KubeObject): readonly FieldError[] =>
  old === undefined || isDeepStrictEqual(object.roleRef, old.roleRef)
    ? []
    : [invalidValue('roleRef', object.roleRef, 'cannot change roleRef')]

const roles: Traits = { ...plain, nameErrors: pathSegmentName }
const roleBindings: Traits = {
  ...roles,
  complete: prepareBinding,
  prepare: prepareBinding,
  validate: bindingErrors,
}
const events: Traits = { ...plain, collected: false }

const definitions: Traits = {
  ...policy,
  complete: defaultCustomResourceDefinition,
  prepare: prepareDefinition,
  validate: definitionErrors,
  onDelete: startDefinitionDeletion,
}

/** Built-in kinds by `<plural>.<group>`; those that are not named here are `plain` (chapter 40, rules 2.31, 3.8). */
const builtinTraits: Readonly<Record<string, Traits>> = {
  configmaps: { ...plain, validate: immutableDataErrors },
  secrets: { ...plain, complete: mergeStringData, prepare: mergeStringData, validate: secretErrors },
  namespaces,
  events,
  'events.events.k8s.io': events,
  [`roles.${rbacGroup}`]: roles,
  [`clusterroles.${rbacGroup}`]: roles,
  [`rolebindings.${rbacGroup}`]: roleBindings,
  [`clusterrolebindings.${rbacGroup}`]: roleBindings,
  'certificatesigningrequests.certificates.k8s.io': { ...plain, nameErrors: pathSegmentName },
  'customresourcedefinitions.apiextensions.k8s.io': definitions,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policy,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': policy,
}

/** The traits of a built-in kind, by `<plural>.<group>` (`<plural>` for core). */
export const traitsOf = (groupResource: string): Traits => ({
  ...(builtinTraits[groupResource] ?? plain),
  ...mannersOf(groupResource),
})
