import { addressCases, rightsCases } from './kubectl/access.suite.ts'
import { applyingCases } from './kubectl/applying.suite.ts'
import { readingCases } from './kubectl/reading.suite.ts'
import { everywhere, type Place, placeOf, type Scene, startScene } from './kubectl/scene.ts'
import { writingCases } from './kubectl/writing.suite.ts'

const areas: Readonly<Record<string, (place: Place) => void>> = {
  reads: readingCases,
  writes: writingCases,
  applies: applyingCases,
  addresses: addressCases,
}

// The commands of kubectl (rules.md 10.5 to 10.30).
describe('kubectl', function () {
  this.timeout(180_000)
  let scene: Scene
  before(async () => {
    scene = await startScene()
  })
  after(() => scene?.stop())

  for (const where of everywhere)
    describe(where, () => {
      const place = placeOf(where, () => scene)
      for (const [area, cases] of Object.entries(areas)) describe(area, () => cases(place))
      if (where !== 'through the view') describe('rights', () => rightsCases(place))
    })
})
