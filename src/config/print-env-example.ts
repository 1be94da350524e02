/** Prints the text of `.env.example`, or with `--table` the README's settings table. */
import { envExample, settingsTable } from './documents.js';

process.stdout.write(process.argv.includes('--table') ? settingsTable() : envExample());
