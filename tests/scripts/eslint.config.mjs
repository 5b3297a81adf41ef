import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: ["error", "always", { null: "ignore" }], // `== null` asks for null or undefined
  "no-undef": "error",
  "no-unused-vars": ["error", { caughtErrors: "none" }],
  "no-var": "error",
  "prefer-const": "error",
};

export default [
  { ignores: ["**/node_modules/"] },
  {
    files: ["assets/**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: { ...globals.browser, Plotly: "readonly" } },
    rules,
  },
  {
    files: ["tests/scripts/**/*.mjs"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.node },
    rules,
  },
];
