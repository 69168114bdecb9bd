import assert from 'node:assert/strict'
import { notRun } from '../../support/notrun.ts'
import { compiled, run } from '../../support/oriel.ts'
import { problemsOf } from './kubernetesobjects.ts'
import {
  type Container,
  chart,
  hasHelm,
  noHelm,
  type Rendered,
  refusedValues,
  render,
  roles,
  sets,
  template,
  version,
} from './rendered.ts'

const workloadOf = (objects: readonly Rendered[]): Rendered => {
  const found = objects.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')
  assert.ok(found, 'there is a workload')
  return found
}

/** The kinds that are no kinds of Kubernetes, and their types in its client. */
const foreign = new Set(['Certificate', 'PrometheusRule', 'ServiceMonitor'])

/** Files of flags are in mounted directories. */
function unmounted({ args, volumeMounts }: Container): readonly string[] {
  const files = args.flatMap(arg => /^--[a-z-]+=(\/etc\/oriel\/.*)\/[^/]+$/.exec(arg)?.[1] ?? [])
  return files.filter(folder => !volumeMounts.some(({ mountPath }) => mountPath === folder))
}

describe('the chart', function () {
  this.timeout(120_000)
  if (!hasHelm) return notRun('is rendered', noHelm)

  it('passes helm lint', async () => {
    const { code, stdout } = await run('helm', ['lint', '--strict', chart, ...version])
    assert.equal(code, 0, stdout)
  })

  for (const [role, values] of Object.entries(roles)) {
    it(`has objects of Kubernetes only, with fields that Kubernetes knows: ${role}`, async () => {
      const objects = await render(...values)
      const problems = objects
        .filter(({ kind }) => !foreign.has(kind))
        .flatMap(object => problemsOf(object, `V1${object.kind}`))
      assert.deepEqual(problems, [])
      const kinds = objects.map(({ kind }) => kind).sort()
      for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'])
        assert.ok(kinds.includes(kind), kind)
      assert.equal(kinds.includes('ServiceMonitor'), values.length > 0)
    })

    it(`passes flags that the program has, and mounts their files: ${role}`, async () => {
      const { containers, volumes = [] } = workloadOf(await render(...values)).spec.template.spec
      const [container] = containers as readonly [Container]
      const [command = '', ...flags] = container.args
      const help = (await run(process.execPath, [compiled, command, '--help'])).stdout
      const names = flags.map(flag => flag.replace(/=.*$/, ''))
      assert.deepEqual(
        names.filter(name => !help.includes(`${name} <`)),
        [],
      )
      assert.deepEqual(unmounted(container), [])
      const mounted = container.volumeMounts.map(({ name }) => name).filter(name => name !== 'data')
      assert.deepEqual(
        mounted.filter(name => !volumes.some(volume => volume.name === name)),
        [],
      )
    })
  }

  it('asks cert-manager for a certificate of the names of the Service, and mounts its Secret', async () => {
    const objects = await render(...(roles.server ?? []))
    const { spec } = objects.find(({ kind }) => kind === 'Certificate') ?? assert.fail('no Certificate')
    assert.equal(spec.secretName, 'demo-oriel-tls')
    assert.deepEqual(spec.dnsNames, [
      'demo-oriel.oriel.svc',
      'demo-oriel',
      'demo-oriel.oriel',
      'oriel.example.com',
    ])
    const { volumes } = workloadOf(objects).spec.template.spec
    const secret = { name: 'certificate', secret: { secretName: 'demo-oriel-tls', defaultMode: 0o440 } }
    assert.deepEqual(
      volumes?.find(({ name }) => name === 'certificate'),
      secret,
    )
  })

  for (const [what, values, message] of refusedValues)
    it(`refuses ${what}, and names the value`, async () => {
      const { code, stderr } = await template(...sets(...values))
      assert.equal(code, 1)
      assert.match(stderr, message)
    })
})
