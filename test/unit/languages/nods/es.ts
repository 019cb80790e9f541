import { listed } from '../../../../shared/base/listed.ts';

export const spanish = {
  nods: listed(
    'de verdad|ah de verdad|es bueno saberlo|qué interesante|interesante|ah qué bien|oh vaya|vaya|eso es genial|eso está bien|está muy bien|es interesante|ah ya veo|ah vale|ah bueno|muy bien entonces|ah perfecto|ah genial',
    'bueno saberlo|me alegro|me alegra oírlo|qué alegría|qué bueno|qué bonito|qué lindo|qué maravilla|maravilloso|estupendo|fantástico|fenomenal|excelente|increíble|magnífico|súper|chévere|qué padre',
    'suena bien|suena genial|suena perfecto|suena bien eso|me parece bien|me parece perfecto|me parece genial|me sirve|me vale|eso me sirve|está perfecto|está claro|está genial|está correcto|es verdad|es cierto',
    'eso es cierto|eso es verdad|es muy amable|muy amable|muy útil|qué útil|muy interesante|realmente interesante|qué amable|ay dios|dios mío|ay madre|madre mía|no me diga|no me digas|en serio|ah en serio',
    'ah sí|ah sí claro|ah ya|ya ya|ya claro|ya entiendo|ya comprendo|así que es eso|ah es así|mira tú|mira qué bien|ok perfecto|ok muy bien|ok gracias|vale perfecto|vale muy bien|vale genial|todo bien',
    'sí claro|sí sí claro|sí exacto|sí exactamente|sí por supuesto|sí correcto|sí perfecto|sí muy bien|sí ya veo|sí entiendo|sí eso es|exactamente|tiene razón|tienes razón|tiene toda la razón|buena idea|muy buena idea',
    'tiene sentido|eso tiene sentido|claro tiene sentido|lo entiendo|lo comprendo|ahora entiendo|ahora lo entiendo|lo sé|sí lo sé|ya lo sé|no lo sabía|eso pensaba|me lo imaginaba|lo imaginaba|estoy de acuerdo|entiendo perfectamente|entiendo lo que dice|ya me imagino',
    'naturalmente|obviamente|ciertamente|efectivamente|en efecto|totalmente|absolutamente|seguro|con razón|menos mal|gracias a dios|por suerte|qué alivio|uf|nada mal|no está mal|ningún problema|sin problema',
  ),
  interruptions: listed(
    'para|espere|un momento|no|no no no|no gracias|ese no|disculpe|perdón|cómo|qué|qué ha dicho|puede repetir|repita por favor|más despacio|más alto|no le oigo|qué quiere decir|qué es eso',
    'quién es|cuánto|cuánto cuesta|cuánto tarda|cuándo es|dónde está|cuál|por qué|a qué hora|el viernes|el lunes por favor|a las siete|para cuatro personas|mejor cinco|el azul|el segundo|el más barato|mejor mañana|la semana que viene',
    'en realidad no|he cambiado de opinión|cancélelo|cancele mi pedido|olvídelo|déjelo|no lo quiero|no lo necesito|está mal|eso no es|no es lo que pregunté|no es mi nombre|me llamo Ana|es García|no es López|quería decir el martes|dije quince',
    'puedo preguntar algo|puedo hablar con alguien|quiero una persona|páseme con un agente|tengo una pregunta|una pregunta|otra cosa|pero ya pagué|pero espere|pero es muy tarde|pero por qué|sí pero hoy no|vale pero cuánto cuesta|necesito ayuda|ayúdeme|quiero un reembolso|quiero pagar',
    'quiero reservar|necesito una factura|envíelo por correo|llámeme luego|vuelva atrás|salte eso|siguiente|empiece de nuevo|cállese|escúcheme|hola|está ahí|tienen aparcamiento|el desayuno está incluido|está abierto ahora|cuesta extra|y el domingo|mejor a las seis|muy caro|muy tarde|muy temprano',
    'dos entradas|tres noches|con vistas|sin cebolla|a Madrid|desde el aeropuerto|con tarjeta|en efectivo|con mi mujer|la otra dirección|está roto|no funciona|tengo prisa|tengo que irme|estoy conduciendo|no he terminado|déjeme terminar',
  ),
};
