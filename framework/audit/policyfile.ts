import { type AuditPolicy, type AuditRule, auditLevels, auditStages } from './policy.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Validates a decoded policy file. Throws an `Error` with the field and its problem: unknown fields are errors, because
 * a misspelled field would change the policy.
 */
export function auditPolicyOf(value: unknown): AuditPolicy {
  const policy = fieldsOf(value, 'the policy')
  const { apiVersion, kind } = policy
  if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy')
    throw new Error(`expected an audit.k8s.io/v1 Policy, not ${printed(apiVersion)} ${printed(kind)}`)
  checkNames(
    policy,
    ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'],
    'the policy',
  )
  const { rules } = policy
  if (!Array.isArray(rules) || rules.length === 0) throw new Error('the policy has no rules')
  checkStages(policy, 'omitStages')
  for (const [i, rule] of rules.entries()) checkRule(rule, `rules[${i}]`)
  return policy as unknown as AuditPolicy
}

const ruleFields: readonly (keyof AuditRule)[] = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
]

function checkRule(value: unknown, at: string): void {
  const rule = fieldsOf(value, at)
  checkNames(rule, ruleFields, at)
  if (!auditLevels.some(level => level === rule.level))
    throw new Error(`${at}.level must be one of ${auditLevels.join(', ')}, not ${printed(rule.level)}`)
  for (const field of ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs'])
    checkTexts(rule[field], `${at}.${field}`)
  checkStages(rule, `${at}.omitStages`)
  checkPaths(rule, at)
  for (const [i, resources] of listOf(rule.resources, `${at}.resources`).entries())
    checkResources(resources, `${at}.resources[${i}]`)
}

function checkPaths(rule: Fields, at: string): void {
  const paths = (rule.nonResourceURLs ?? []) as readonly string[]
  if (paths.length > 0 && (rule.resources !== undefined || rule.namespaces !== undefined))
    throw new Error(`${at} must not have both resources and nonResourceURLs`)
  for (const path of paths) {
    if (path !== '*' && !path.startsWith('/'))
      throw new Error(`${at}.nonResourceURLs: ${printed(path)} must begin with a '/' or be '*'`)
    if (path.slice(0, -1).includes('*'))
      throw new Error(`${at}.nonResourceURLs: ${printed(path)} must not have '*' except at its end`)
  }
}

function checkResources(value: unknown, at: string): void {
  const resources = fieldsOf(value, at)
  checkNames(resources, ['group', 'resources', 'resourceNames'], at)
  const { group = '' } = resources
  if (typeof group !== 'string' || group.includes('/'))
    throw new Error(`${at}.group must be an API group without a version, not ${printed(group)}`)
  checkTexts(resources.resources, `${at}.resources`)
  checkTexts(resources.resourceNames, `${at}.resourceNames`)
  const named = resources.resourceNames as readonly string[] | undefined
  if (named?.length && !(resources.resources as readonly string[] | undefined)?.length)
    throw new Error(`${at}.resourceNames requires resources`)
}

function checkStages(fields: Fields, at: string): void {
  for (const stage of listOf(fields.omitStages, at))
    if (!auditStages.some(known => known === stage))
      throw new Error(`${at} must be stages of ${auditStages.join(', ')}, not ${printed(stage)}`)
}

function checkNames(fields: Fields, known: readonly string[], at: string): void {
  const unknown = Object.keys(fields).find(name => !known.includes(name))
  if (unknown !== undefined) throw new Error(`${at} has an unknown field ${printed(unknown)}`)
}

function checkTexts(value: unknown, at: string): void {
  for (const entry of listOf(value, at))
    if (typeof entry !== 'string')
      throw new Error(`${at} must be a list of strings, not of ${printed(entry)}`)
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error(`${at} must be a list, not ${printed(value)}`)
  return value
}

function fieldsOf(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${at} must be an object, not ${printed(value)}`)
  return value as Fields
}

/** Shortened: the file may be another one by mistake, such as a key. */
function printed(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= 40 ? text : `${text.slice(0, 20)}…`
}
