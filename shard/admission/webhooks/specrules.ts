import { isDeepStrictEqual } from 'node:util'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { type FieldError, invalid } from '../../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../../framework/meta/errorsteps.ts'
import { invalidValue, repeated, required, unsupported } from '../../../framework/meta/fielderror.ts'
import { dns1123SubdomainErrors } from '../../../framework/meta/names.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { reviewVersionErrors, serviceErrors, urlErrors } from '../../../openapi/crd/conversion.ts'
import { conditionErrors, matchSelectorErrors, oneOf, ruleErrors } from '../policies/rulechecks.ts'
import { type Prepared, prepare, type Webhook } from './configuration.ts'

const resources: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
])

/** Validates webhook configurations (`pkg/apis/admissionregistration/validation`). */
export const webhookRules: AdmissionPlugin = {
  name: 'WebhookRules',
  handles: { resources: [...resources].map(resource => `${resource}.admissionregistration.k8s.io`) },
  async validate(_ctx, { group, resource, operation, object, old }) {
    if (group !== 'admissionregistration.k8s.io' || !resources.has(resource)) return
    if (object === undefined || operation === 'DELETE') return
    const errors = await inTurns(configurationErrors(object, old), new Pace())
    if (errors.length > 0) throw invalid(object.kind, group, object.metadata.name ?? '', errors)
  },
}

function* configurationErrors(object: KubeObject, old: KubeObject | undefined): ErrorSteps {
  const isForgiven = old !== undefined && isDeepStrictEqual(conditionsOf(object), conditionsOf(old))
  const hooks = yield* prepare(isForgiven ? withoutConditions(object) : object)
  const errors = yield* itemErrors(hooks, (hook, i) => webhookErrors(hook, `webhooks[${i}]`))
  const names = hooks.map(({ webhook }) => webhook.name)
  return [...errors, ...repeated(names, i => `webhooks[${i}].name`)]
}

const webhooksOf = ({ webhooks }: KubeObject): readonly Webhook[] => (webhooks ?? []) as readonly Webhook[]

/** An update that does not change the match conditions does not validate them again. */
const conditionsOf = (object: KubeObject): readonly unknown[] =>
  webhooksOf(object).map(({ matchConditions }) => matchConditions)

const withoutConditions = (object: KubeObject): KubeObject => ({
  ...object,
  webhooks: webhooksOf(object).map(({ matchConditions: _, ...others }) => others),
})

const harmless = ['None', 'NoneOnDryRun']

function webhookErrors({ webhook, conditions }: Prepared, path: string): readonly FieldError[] {
  const { rules = [], sideEffects, timeoutSeconds = 10, admissionReviewVersions = [] } = webhook
  const seconds = 'the timeout value must be between 1 and 30 seconds'
  return [
    ...nameErrors(webhook.name, `${path}.name`),
    ...matchSelectorErrors(webhook, path),
    ...rules.flatMap((rule, i) => ruleErrors(rule, `${path}.rules[${i}]`)),
    ...oneOf(`${path}.failurePolicy`, webhook.failurePolicy, ['Fail', 'Ignore']),
    ...oneOf(`${path}.matchPolicy`, webhook.matchPolicy, ['Equivalent', 'Exact']),
    ...(sideEffects === undefined
      ? [required(`${path}.sideEffects`, `must specify one of ${harmless.join(', ')}`)]
      : harmless.includes(sideEffects)
        ? []
        : [unsupported(`${path}.sideEffects`, sideEffects, harmless)]),
    ...(timeoutSeconds < 1 || timeoutSeconds > 30
      ? [invalidValue(`${path}.timeoutSeconds`, timeoutSeconds, seconds)]
      : []),
    ...clientErrors(webhook.clientConfig, `${path}.clientConfig`),
    ...conditions.flatMap(({ source, problem }, i) =>
      problem === undefined
        ? []
        : [invalidValue(`${path}.matchConditions[${i}].expression`, source, problem)],
    ),
    ...conditionErrors(webhook.matchConditions, `${path}.matchConditions`),
    ...oneOf(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, ['IfNeeded', 'Never']),
    ...reviewVersionErrors(
      admissionReviewVersions,
      `${path}.admissionReviewVersions`,
      'must specify one of v1, v1beta1',
    ),
  ]
}

function nameErrors(name: string, path: string): readonly FieldError[] {
  if (!name) return [required(path)]
  const wrong = dns1123SubdomainErrors(name)
  if (wrong.length > 0) return [invalidValue(path, name, wrong.join(','))]
  return name.split('.').length < 3
    ? [invalidValue(path, name, 'should be a domain with at least three segments separated by dots')]
    : []
}

function clientErrors({ url, service }: Webhook['clientConfig'], path: string): readonly FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(path, 'exactly one of url or service is required')]
  return url === undefined ? serviceErrors(service, `${path}.service`) : urlErrors(url, `${path}.url`)
}
