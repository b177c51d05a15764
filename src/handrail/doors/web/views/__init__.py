"""How outputs and values are drawn: `result.draw_result` a whole result, `values.draw_value` any value."""
