// SPDX-License-Identifier: MIT
//
// A separate script that sets the theme after the style sheet and before the first rendering.
import { apply } from "./theme";

apply();
