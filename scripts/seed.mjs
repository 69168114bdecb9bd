// The seed of the property tests in all processes of a run: `SEED=7 npm test` repeats a run with that seed.
import { configureGlobal } from 'fast-check'

configureGlobal({ seed: Number(process.env.SEED) })
