import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { discard, eventually, type Kubectl, type Oriel } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import { apply, bind, bindingOf, createWorkspaces, exportApi, type Tenant } from '../support/tenants.ts'

// Rules of schemas and admission policies through the running server (rules.md 7.27 to 7.40; cases 28 and 29).

const integer = { type: 'integer' }
const spec = {
  type: 'object',
  properties: { size: { ...integer, minimum: 0 }, color: { type: 'string', enum: ['red', 'blue', 'mauve'] } },
  'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'size may not shrink' }],
}

const gadgets = (specSchema: object, group = 'cel.example.com'): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: specSchema } } },
      },
    ],
  },
})

const gadget = (name: string, fields: object, group = 'cel.example.com'): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name, namespace: 'default' },
  spec: fields,
})

interface Checked {
  readonly status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: {
      readonly expressionWarnings?: readonly { readonly fieldRef: string; readonly warning: string }[]
    }
  }
}

/** The error of kubectl when the server refuses. */
async function refusal(action: Promise<string>): Promise<string> {
  try {
    await action
  } catch (error) {
    return String(error)
  }
  throw new assert.AssertionError({ message: 'it was accepted' })
}

const has = async (action: Promise<string>, text: string): Promise<void> => {
  const found = await refusal(action)
  assert.ok(found.includes(text), `${found}\n does not say: ${text}`)
}

const policy = (name: string, more: object): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
      ],
    },
    ...more,
  },
})

const binding = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName: name, validationActions: ['Deny'], ...more },
})

const configMap = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

/** Applies objects with new names until the server has applied the rule or policy. */
function learnt(
  kubectl: Kubectl,
  prefix: string,
  make: (name: string) => KubeObject,
  text: string,
): Promise<string> {
  let count = 0
  return eventually(
    () => apply(kubectl, make(`${prefix}${count++}`)).catch(String),
    answer => answer.includes(text),
  )
}

describe('rules and policies through the server', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let tenant: Tenant
  let provider: Tenant
  let kubectl: Kubectl

  before(async () => {
    oriel = await startServer()
    const [first, second] = await createWorkspaces(oriel, ['cel', 'cel-provider'])
    assert.ok(first && second)
    tenant = first
    provider = second
    kubectl = tenant.kubectl
  })
  after(() => discard(oriel))

  it('refuses definitions whose rules do not compile, or cost too much', async () => {
    const wrong = { ...spec, 'x-kubernetes-validations': [{ rule: 'self.sise > 1' }] }
    await has(
      apply(kubectl, gadgets(wrong)),
      `.rule: Invalid value: {"Rule":"self.sise \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'sise'\n | self.sise > 1\n | ....^`,
    )
    const dear = {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
    }
    await has(
      apply(kubectl, gadgets(dear)),
      '.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    )
  })

  it('applies a transition rule from the second write on (case 28)', async () => {
    await apply(kubectl, gadgets(spec))
    await kubectl(['wait', '--for=condition=Established', 'crd/gadgets.cel.example.com'])
    await eventually(
      () => apply(kubectl, gadget('a', { size: 0, color: 'mauve' })).catch(String),
      text => text.includes('created'),
    )
    await apply(kubectl, gadget('a', { size: 5, color: 'mauve' }))
    await has(
      apply(kubectl, gadget('a', { size: 3, color: 'mauve' })),
      'The Gadget "a" is invalid: spec: Invalid value: size may not shrink',
    )
  })

  it('accepts unchanged values that a tighter schema refuses (case 29)', async () => {
    const tighter = { ...spec, properties: { ...spec.properties, color: { type: 'string', enum: ['red'] } } }
    await apply(kubectl, gadgets(tighter))
    await eventually(
      () => apply(kubectl, gadget('b', { color: 'mauve' })).catch(String),
      text => text.includes('Unsupported value'),
    )
    await apply(kubectl, gadget('a', { size: 6, color: 'mauve' }))
    await has(
      apply(kubectl, gadget('a', { size: 6, color: 'blue' })),
      'spec.color: Unsupported value: "blue": supported values: "red"',
    )
  })

  it('evaluates the policies of the workspace', async () => {
    const validations = [
      { expression: "object.data.?size.orValue('1') != '0'", message: 'size may not be 0' },
      {
        expression: '!has(object.data.color) || object.data.color in variables.colors',
        messageExpression: "'colors are ' + variables.colors.join(' or ')",
        reason: 'Forbidden',
      },
    ]
    const variables = [{ name: 'colors', expression: "['red', 'blue']" }]
    const conditions = [{ name: 'marked', expression: "object.metadata.name.startsWith('x')" }]
    await apply(
      kubectl,
      policy('sizes', { validations, variables, matchConditions: conditions }),
      binding('sizes'),
    )
    const denied = "ValidatingAdmissionPolicy 'sizes' with binding 'sizes' denied request:"
    const sized = (name: string) => configMap(name, { size: '0' })
    await learnt(kubectl, 'x', sized, `" is invalid: : ${denied} size may not be 0`)
    await has(apply(kubectl, configMap('x', { color: 'mauve' })), `${denied} colors are red or blue`)
    await apply(kubectl, configMap('x', { color: 'red' }))
    await apply(kubectl, configMap('free', { size: '0' }))
  })

  it('gives policies their parameters', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'marked', expression: "object.metadata.name.startsWith('p')" }],
      validations: [{ expression: 'object.data.size() <= int(params.data.max)' }],
    }
    const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' }
    await apply(kubectl, configMap('limits', { max: '1' }))
    await apply(kubectl, policy('limited', spec), binding('limited', { paramRef }))
    const large = (name: string) => configMap(name, { a: '1', b: '2' })
    const text = "'limited' denied request: failed expression: object.data.size() <= int(params.data.max)"
    await learnt(kubectl, 'p', large, text)
    await apply(kubectl, configMap('p', { a: '1' }))
  })

  it('follows failurePolicy for errors', async () => {
    const spec = {
      matchConditions: [{ name: 'marked', expression: "object.metadata.name.startsWith('f')" }],
      validations: [{ expression: 'object.data.missing == "x"' }],
    }
    await apply(kubectl, policy('failing', { ...spec, failurePolicy: 'Fail' }), binding('failing'))
    const any = (name: string) => configMap(name, { a: '1' })
    const text = `denied request: expression 'object.data.missing == "x"' resulted in error: no such key: missing`
    await learnt(kubectl, 'f', any, text)
    await apply(kubectl, policy('failing', { ...spec, failurePolicy: 'Ignore' }))
    await learnt(kubectl, 'f', any, 'created')
  })

  it('warns of type errors against the schemas of matching kinds', async () => {
    const checkedOf = async (name: string, validations: readonly object[], more: object = {}) => {
      await apply(kubectl, policy(name, { validations, ...more }))
      const { status } = await eventually(
        () => kubectl.json<Checked>(['get', 'validatingadmissionpolicy', name]),
        ({ status }) => status?.observedGeneration === 1,
      )
      return status?.typeChecking
    }
    const odd = "object.dada.x == 'y' && object.data.all(k, k != '') && request.name != variables.x"
    const [first, second] =
      (
        await checkedOf('odd', [{ expression: odd, messageExpression: 'string(object.metadata.size)' }], {
          variables: [{ name: 'x', expression: 'object.metadata.name' }],
        })
      )?.expressionWarnings ?? []
    assert.equal(first?.fieldRef, 'spec.validations[0].expression')
    assert.match(
      first?.warning ?? '',
      /^\/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dada'\n \| object\.dada/,
    )
    assert.equal(second?.fieldRef, 'spec.validations[0].messageExpression')
    assert.match(second?.warning ?? '', /undefined field 'size'/)
    assert.deepEqual(await checkedOf('good', [{ expression: "object.metadata.name != 'x'" }]), {})
  })

  it('refuses policies that do not compile', async () => {
    const validations = [{ expression: 'object.' }]
    await has(
      apply(kubectl, policy('wrong', { validations })),
      'spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input \'.\'',
    )
  })

  it('evaluates the policies of the export for bound resources, and no others', async () => {
    const group = 'bound.example.com'
    const name = await exportApi(
      provider,
      gadgets({ type: 'object', properties: { size: integer } }, group),
      [],
    )
    await bind(tenant, bindingOf(provider, name, []))
    const rules = { apiGroups: [group], apiVersions: ['*'], operations: ['*'], resources: ['*'] }
    const matchConstraints = { resourceRules: [rules] }
    const validations = [{ expression: 'request.operation == "DELETE" || object.spec.size < 5' }]
    await apply(provider.kubectl, policy('small', { matchConstraints, validations }), binding('small'))
    const never = [{ expression: 'false', message: 'never' }]
    await apply(kubectl, policy('own', { matchConstraints, validations: never }), binding('own'))
    const big = (name: string) => gadget(name, { size: 9 }, group)
    await learnt(kubectl, 'big', big, "'small' denied request: failed expression: ")
    await apply(kubectl, gadget('tiny', { size: 1 }, group))
  })
})
